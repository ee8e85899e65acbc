//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockFile makes the lock file exclusively, where the system has no flock. A lock
// left by a crash must be removed by hand; the error names it.
func lockFile(path string) (unlock func(), err error) {
	name := lockPath(path)
	deadline := time.Now().Add(10 * time.Second)
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close()
			return func() { _ = os.Remove(name) }, nil
		}
		// An edit takes milliseconds: a lock of ten seconds is left over.
		if !errors.Is(err, fs.ErrExist) || time.Now().After(deadline) {
			return nil, fmt.Errorf("lock keys: %w", err)
		}
		<-time.After(20 * time.Millisecond)
	}
}
