package authn

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeKeys puts a new key file in place.
func writeKeys(path string, records []keyRecord) error {
	if err := replaceFile(path, appendKeyFile(nil, records)); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}

// replaceFile puts a new file in place in one step: readers see the old one or the
// new one, and a crash leaves one of them. Mode 0600, since subjects and groups, and
// when keys are used, are nobody else's business.
func replaceFile(path string, doc []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after the rename
	_, err = tmp.Write(doc)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the rename itself survive a power loss. Some file systems cannot
// sync directories; the file is complete either way.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// resolve follows symbolic links, so that a rename replaces the file they lead to
// and not the link.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// lockPath is the file whose lock guards changes. It is not the key file itself,
// because that one is another file after every change.
func lockPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// randomID makes an id of eight characters, enough not to meet another one; Create
// refuses an id that exists in any case.
func randomID() string { return strings.ToLower(rand.Text()[:8]) }
