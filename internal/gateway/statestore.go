package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/observed"
	"github.com/a2a-gateway/a2a-gateway/internal/state/shared"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// stateStore is the state that the configuration names.
type stateStore struct {
	store     state.Store
	local     *state.Memory // the store itself, or what stands in for it when limits are counted
	telemetry *telemetry.Telemetry
	revoked   *revocation.Watcher   // nil where nobody else can revoke keys
	lost      atomic.Pointer[error] // why the file of the state is not where it was; nil while it is
}

// openState opens the state. Limits are counted in local while it cannot be reached. memory
// ends with the process; sqlite is a file of this machine; redis is shared by replicas.
// Operations of the last two are counted and timed (state/observed), those of memory are
// not, as they take nanoseconds.
func openState(ctx context.Context, c state.Config, t *telemetry.Telemetry) (*stateStore, error) {
	s := &stateStore{local: state.NewMemory(c), telemetry: t}
	var opened state.Store
	var err error
	switch c.Driver {
	case "", "memory":
		s.store = s.local
		return s, nil
	case "sqlite":
		opened, err = sqlite.Open(ctx, c, &sqlite.Watcher{Lost: s.fileLost, Refuses: s.fileRefuses})
	case "redis":
		opened, err = shared.Open(ctx, c, t.Log, t.Metrics.Store.Evicted)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("state: %w", err), s.local.Close())
	}
	s.store = &observed.Store{Store: opened, Counted: t.Metrics.Store.Did}
	if c.Shared() {
		s.revoked = revocation.Watch(ctx, s.store, t.Log)
	}
	return s, nil
}

// lasts reports whether what is in the state outlives the process.
func (s *stateStore) lasts() bool { return s.store != state.Store(s.local) }

// close ends the watcher before the store that it reads.
func (s *stateStore) close() error {
	if s.revoked != nil {
		s.revoked.Close()
	}
	err := s.store.Close()
	if s.lasts() {
		err = errors.Join(err, s.local.Close())
	}
	return err
}

// fileLost says that the file of the state was deleted, moved or replaced under the
// gateway, or with nil that it is back. A process that has the file open could go on
// writing to it although no path leads to it any more: whatever it wrote would be gone with
// the process. So calls that write are refused, and /readyz says why.
func (s *stateStore) fileLost(why error) {
	if why == nil {
		s.telemetry.Log.Info("the file of the state is back")
		s.lost.Store(nil)
	} else {
		s.telemetry.Log.Error("the file of the state is lost: calls that would write to it are refused", "error", why)
		s.lost.Store(&why)
	}
	s.telemetry.Metrics.Store.FileLost(why != nil)
}

// fileRefuses says that the file of the state takes no writes, or with nil that it does
// again. A full disk is the usual reason. Reads go on meanwhile.
func (s *stateStore) fileRefuses(why error) {
	if why == nil {
		s.telemetry.Log.Info("sqlite takes writes again")
		return
	}
	s.telemetry.Log.Warn("sqlite refuses writes: what has to be recorded is refused until it takes them", "error", why)
}
