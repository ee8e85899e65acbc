//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lock makes sure that one process uses a file: two would not know what the other one
// remembers of it. It locks a file beside it, as closing any descriptor of the database
// would end SQLite's own locks. The system releases it however the process ends.
func lock(path string) (release func() error, err error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's path
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		// LOCK_NB: fail at once rather than wait for a gateway that runs for weeks.
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another gateway uses it; give each its own file, or use the redis driver")
		}
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		// A process that is just being started may have the descriptor too, for a moment.
		return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	}, nil
}
