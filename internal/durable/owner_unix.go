//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// own gives f the owner and the group of another file. Only root may give files away: who
// else writes a file becomes its owner, and keeps the group, since that is whom the
// permissions let in besides.
func own(f *os.File, old fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	was, _ := old.Sys().(*syscall.Stat_t) // of what os.Stat says on these systems
	is, _ := now.Sys().(*syscall.Stat_t)
	if was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	err = f.Chown(int(was.Uid), int(was.Gid))
	if errors.Is(err, fs.ErrPermission) && was.Uid != is.Uid {
		err = f.Chown(-1, int(was.Gid))
	}
	if err != nil && old.Mode().Perm()&0o070 != 0 {
		return fmt.Errorf("keep the group %d of %s: %w", was.Gid, old.Name(), err)
	}
	return nil
}
