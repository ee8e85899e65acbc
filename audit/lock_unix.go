//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock makes sure that one process writes to a directory: two would give the
// same numbers to different records. The system releases it however the process
// ends.
// flock(2) belongs to the open file: it ends with the process, so that a crash leaves no lock
// behind, and the file itself may stay.
func lock(dir string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "audit.lock"), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another gateway writes there: give this one a server.dataDir, or telemetry.audit.dir, of its own")
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), f.Close())
	}
	return func() error {
		// Closing alone would leave the lock to a child that is being started at the moment.
		return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	}, nil
}
