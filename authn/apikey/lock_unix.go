//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package apikey

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile waits for the lock of a key file. The kernel gives it back when the
// process dies, so there is no stale lock to break.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(lockPath(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock keys: %w", err)
	}
	for {
		// A signal ends the wait without the lock; it is taken up again.
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock keys: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
