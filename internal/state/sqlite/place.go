package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// place is where the file of a store is. The system lets somebody delete a file, or put another
// one in its place, while a process has it open: what that writes then is gone with it. So each
// transaction looks before it begins, and the keeper every second.
type place struct {
	path string
	told func(error) // of changes, with mu held: why the file is not there, or nil when it is again

	lost atomic.Pointer[error]

	mu     sync.Mutex
	opened os.FileInfo // the file and its journal, once they were there
	wal    os.FileInfo
}

// newPlace looks after a file that is not open yet: note says when it is.
func newPlace(path string, told func(error)) *place {
	return &place{path: path, told: orNobody(told)}
}

// note remembers the files that were opened. Their journal is there as long as they are open.
func (p *place) note() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.opened, err = os.Stat(p.path); err != nil {
		return err
	}
	p.wal, _ = os.Stat(p.path + walSuffix) // not yet there on systems with another kind
	return nil
}

const walSuffix = "-wal"

// check returns an error that wraps state.ErrUnavailable while the files are not where they
// were. When they are there again, they are the same, and nothing was written meanwhile.
func (p *place) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		return nil // it is being opened
	}
	err := p.still(p.path, p.opened)
	// The journal has what the last commits wrote. A restored backup without it is another state.
	if err == nil && p.wal != nil {
		err = p.still(p.path+walSuffix, p.wal)
	}
	// Read without mu by Away, which asks on the path of calls.
	was := p.lost.Load()
	switch {
	// Told once when it goes and once when it is back.
	case err == nil && was != nil:
		p.lost.Store(nil)
		p.told(nil)
	case err != nil && was == nil:
		p.lost.Store(&err)
		p.told(err)
	}
	return err
}

// still reports why the file at a path is not the one that was opened.
func (p *place) still(path string, opened os.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the file %s was deleted or moved away while the gateway used it; put it back, "+
			"or restart the gateway with a backup or with nothing", state.ErrUnavailable, path)
	case err != nil:
		return fmt.Errorf("%w: the file %s cannot be looked at: %w", state.ErrUnavailable, path, err)
	case !os.SameFile(now, opened):
		return fmt.Errorf("%w: another file is in the place of %s, which the gateway used; restart the gateway to use it",
			state.ErrUnavailable, path)
	}
	return nil
}

// connector opens no connection to another file than the others have: such a one would answer
// from it.
type connector struct {
	driver driver.Driver
	name   string
	place  *place
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.place.check(); err != nil {
		return nil, err
	}
	return c.driver.Open(c.name)
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }
