package apikey

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/durable"
)

// writeKeys puts a new key file in place. Subjects and groups in it are nobody else's
// business, but for whom its permissions let read it already: the user of a service, for
// one, who is not the one that makes keys.
func writeKeys(path string, records []keyRecord) error {
	if err := durable.Rewrite(path, appendKeyFile(nil, records)); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
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
