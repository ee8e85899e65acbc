package apikey

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// revocations are the ways in which a key file changes under a gateway. Each puts doc
// in the place of what is at path, in a directory of its own.
var revocations = map[string]func(t *testing.T, path string, doc []byte){
	"replaced": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		authntest.Must(t, os.WriteFile(path+".new", doc, 0o600))
		authntest.Must(t, os.Rename(path+".new", path))
	},
	"edited in place": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		authntest.Must(t, os.WriteFile(path, doc, 0o600))
	},
	"edited in place, same size": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		info, err := os.Stat(path)
		authntest.Must(t, err)
		padded := append(doc, bytes.Repeat([]byte("#"), int(info.Size())-len(doc)-1)...)
		authntest.Must(t, os.WriteFile(path, append(padded, '\n'), 0o600))
	},
	"edited in place, time set back": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		authntest.Must(t, os.WriteFile(path, doc, 0o600))
		authntest.Must(t, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
	},
	"removed and written": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		authntest.Must(t, os.Remove(path))
		authntest.Must(t, os.WriteFile(path, doc, 0o600))
	},
	"link swapped": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.yaml")
		authntest.Must(t, os.WriteFile(other, doc, 0o600))
		authntest.Must(t, os.Symlink(other, path+".link"))
		authntest.Must(t, os.Rename(path+".link", path))
	},
	"target of the link edited": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		target, err := filepath.EvalSymlinks(path)
		authntest.Must(t, err)
		authntest.Must(t, os.WriteFile(target, doc, 0o600))
	},
	"directory link swapped": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		other, link := t.TempDir(), filepath.Dir(path)
		authntest.Must(t, os.WriteFile(filepath.Join(other, filepath.Base(path)), doc, 0o600))
		authntest.Must(t, os.Symlink(other, link+".link"))
		authntest.Must(t, os.Rename(link+".link", link))
	},
}

// whole are those that leave no moment without the file or with half of it.
var whole = map[string]bool{"replaced": true, "link swapped": true, "directory link swapped": true}

// A key that is taken out of the file is refused, without a restart and however the
// file is changed; the keys that stay are accepted throughout. How long it took is
// logged and not judged: a loaded machine proves nothing.
func TestR22_RevokedKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range revocations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// base/dir -> real, and real/keys.yaml -> base/target.yaml for the link cases
			base := t.TempDir()
			real := filepath.Join(base, "real")
			authntest.Must(t, os.Mkdir(real, 0o700))
			authntest.Must(t, os.Symlink(real, filepath.Join(base, "dir")))
			path := filepath.Join(base, "dir", "keys.yaml")
			if name == "target of the link edited" {
				authntest.Must(t, os.Symlink(filepath.Join(base, "target.yaml"), filepath.Join(real, "keys.yaml")))
			}
			k := &File{path: path}
			alice, bob := create(t, k, Spec{ID: "alice"}), create(t, k, Spec{ID: "bob"})
			records, err := readKeys(path)
			authntest.Must(t, err)
			c := openKeys(t, path, Options{})
			p, err := c.Authenticate(authntest.Request("X-API-Key", alice))
			authntest.Must(t, err)
			authntest.Must(t, From(c).Stands(p))
			start := time.Now()
			change(t, path, appendKeyFile(nil, records[1:]))
			authntest.Eventually(t, "refused", func() bool {
				if whole[name] && !accepted(c, bob) {
					t.Fatal("the other key was refused")
				}
				return !accepted(c, alice)
			})
			t.Logf("refused after %v", time.Since(start).Round(time.Millisecond))
			authntest.Eventually(t, "other key", func() bool { return accepted(c, bob) })
			if From(c).Stands(p) == nil {
				t.Error("an open stream of the key goes on")
			}
		})
	}
}

// The same among many keys, by the means of the command line.
func TestR22_RevokedAmongMany(t *testing.T) {
	testenv.Long(t, "a hundred thousand keys are written and read")
	t.Parallel()
	records, last := manyRecords(crowd)
	path := filepath.Join(t.TempDir(), "keys.yaml")
	authntest.Must(t, writeKeys(path, records))
	start := time.Now()
	c := openKeys(t, path, Options{})
	t.Logf("loaded after %v", time.Since(start).Round(time.Millisecond))
	if !accepted(c, last) {
		t.Fatal("refused before")
	}
	start = time.Now()
	authntest.Must(t, (&File{path: path}).Revoke(records[len(records)-1].ID))
	t.Logf("revoked after %v", time.Since(start).Round(time.Millisecond))
	start = time.Now()
	authntest.Eventually(t, "refused", func() bool { return !accepted(c, last) })
	t.Logf("refused after %v more", time.Since(start).Round(time.Millisecond))
}
