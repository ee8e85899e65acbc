package gateway_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// pushSealed is a ring of keys as a state.Cipher, as the gateway seals deliveries.
type pushSealed struct{ *keys.Ring }

func (s pushSealed) Seal(plain, aad []byte) []byte { return s.Ring.Seal("push", plain, aad) }
func (s pushSealed) Open(sealed, aad []byte) ([]byte, error) {
	return s.Unseal("push", sealed, aad)
}

// bury leaves a delivery that was given up in the state of a gateway that does not run.
func (w *world) bury(yaml, id string) {
	w.t.Helper()
	cfg := w.load(yaml)
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(w.t.Context(), cfg.State, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ring, err := keys.Open(cfg.Keys, log)
	if err != nil {
		w.t.Fatal(err)
	}
	defer ring.Close()
	worker, err := push.NewWorker(cfg.Push, push.WorkerOptions{
		Queue: store, Values: store, Cipher: pushSealed{ring}, Holder: "test", Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = worker.Enqueue(w.t.Context(), &push.Delivery{
		ID: id, Agent: "billing", Task: "t-1", Config: "c-1", Owner: "alice", URL: "https://hooks.example/canary-path?canary-query",
		Version: wire.V10, Body: []byte(`{"task":"canary-body"}`), Token: secret.New("canary-token"),
	})
	now := time.Now()
	items, failed := store.Take(w.t.Context(), push.Queue, "test", now, 10, time.Minute)
	for _, it := range items {
		failed = errors.Join(failed, store.Bury(w.t.Context(), push.Queue, "test", it.ID, "attempt 1: status 410", now, state.Keep{For: time.Hour}))
	}
	if err := errors.Join(err, failed, store.Close()); err != nil || len(items) != 1 {
		w.t.Fatal(len(items), err)
	}
}

// The admin listener is not what a reload changes.
func TestAdminIsFixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy))
	err := w.reload(g, w.yaml(plain, openPolicy+"admin: {address: \"127.0.0.1:0\", readOnly: true}\n"))
	if err == nil || !strings.Contains(err.Error(), "admin: changing it needs a restart") {
		t.Errorf("%v", err)
	}
	if err := w.reload(g, w.yaml(plain, openPolicy+"admin: {address: \"127.0.0.1:0\"}\n")); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
}

func TestAdminOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy+"admin: {address: \"off\"}\n"))
	if url := g.AdminURL(); url != "" {
		t.Errorf("admin at %s", url)
	}
}
