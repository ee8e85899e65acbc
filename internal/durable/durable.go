// Package durable writes files that are whole or not there: readers never see half of
// one, and neither does who comes after a loss of power. It owns that order of steps, and
// no directory or format. It imports nothing of this module.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace puts a new file in place in one step: readers see the old one or the new one,
// and a crash leaves one of them. Only its owner may read it. What path is a symbolic
// link to stays; the link does not.
func Replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after the rename
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
