// Package durable writes files that are whole or not there: readers never see half of
// one, and neither does who comes after a loss of power. It owns that order of steps, and
// no directory or format. It imports nothing of this module.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace puts a new file in place in one step: readers see the old one or the new one,
// and a crash leaves one of them. Only its owner may read it. What path is a symbolic
// link to stays; the link does not.
func Replace(path string, data []byte) error {
	return replace(path, data, func(*os.File) error { return nil }) // made with mode 0600
}

// Rewrite is Replace for a file that others may have been let read: where there is one, the
// new one has its owner, group and permissions, and where they cannot be given to it, the
// old one stays. A new one is its owner's alone.
func Rewrite(path string, data []byte) error {
	old, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Replace(path, data)
	}
	if err != nil {
		return err
	}
	return replace(path, data, func(f *os.File) error {
		if err := own(f, old); err != nil {
			return err
		}
		return f.Chmod(old.Mode().Perm())
	})
}

// replace writes beside path, since a rename is one step within a file system only. The order is: data to
// the disk, then the name, then the directory; any other could leave a name without its data.
func replace(path string, data []byte, prepare func(*os.File) error) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after the rename
	if err := prepare(tmp); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := Write(tmp, data); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	SyncDir(dir)
	return nil
}

// Write writes and closes f; without an error, the data is on the disk.
func Write(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// SyncDir makes new names in a directory survive a loss of power. Some file systems
// cannot sync directories; the files are complete either way.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil { //nolint:gosec // the caller's own file
		_ = d.Sync()
		_ = d.Close()
	}
}
