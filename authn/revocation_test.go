package authn

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// revocations are the ways in which a key file changes under a gateway. Each puts doc
// in the place of what is at path, in a directory of its own.
var revocations = map[string]func(t *testing.T, path string, doc []byte){
	"replaced": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		must(t, os.WriteFile(path+".new", doc, 0o600))
		must(t, os.Rename(path+".new", path))
	},
	"edited in place": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		must(t, os.WriteFile(path, doc, 0o600))
	},
	"edited in place, same size": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		info, err := os.Stat(path)
		must(t, err)
		padded := append(doc, bytes.Repeat([]byte("#"), int(info.Size())-len(doc)-1)...)
		must(t, os.WriteFile(path, append(padded, '\n'), 0o600))
	},
	"edited in place, time set back": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		must(t, os.WriteFile(path, doc, 0o600))
		must(t, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
	},
	"removed and written": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		must(t, os.Remove(path))
		must(t, os.WriteFile(path, doc, 0o600))
	},
	"link swapped": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.yaml")
		must(t, os.WriteFile(other, doc, 0o600))
		must(t, os.Symlink(other, path+".link"))
		must(t, os.Rename(path+".link", path))
	},
	"target of the link edited": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		target, err := filepath.EvalSymlinks(path)
		must(t, err)
		must(t, os.WriteFile(target, doc, 0o600))
	},
	"directory link swapped": func(t *testing.T, path string, doc []byte) {
		t.Helper()
		other, link := t.TempDir(), filepath.Dir(path)
		must(t, os.WriteFile(filepath.Join(other, filepath.Base(path)), doc, 0o600))
		must(t, os.Symlink(other, link+".link"))
		must(t, os.Rename(link+".link", link))
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
			must(t, os.Mkdir(real, 0o700))
			must(t, os.Symlink(real, filepath.Join(base, "dir")))
			path := filepath.Join(base, "dir", "keys.yaml")
			if name == "target of the link edited" {
				must(t, os.Symlink(filepath.Join(base, "target.yaml"), filepath.Join(real, "keys.yaml")))
			}
			k := &Keys{path: path}
			alice, bob := create(t, k, KeySpec{ID: "alice"}), create(t, k, KeySpec{ID: "bob"})
			records, err := readKeys(path)
			must(t, err)
			c := openKeys(t, path, keyOptions{})
			p, err := c.Authenticate(request("X-API-Key", alice))
			must(t, err)
			must(t, KeysOf(c).Stands(p))
			start := time.Now()
			change(t, path, appendKeyFile(nil, records[1:]))
			eventually(t, "refused", func() bool {
				if whole[name] && !accepted(c, bob) {
					t.Fatal("the other key was refused")
				}
				return !accepted(c, alice)
			})
			t.Logf("refused after %v", time.Since(start).Round(time.Millisecond))
			eventually(t, "other key", func() bool { return accepted(c, bob) })
			if KeysOf(c).Stands(p) == nil {
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
	must(t, writeKeys(path, records))
	start := time.Now()
	c := openKeys(t, path, keyOptions{})
	t.Logf("loaded after %v", time.Since(start).Round(time.Millisecond))
	if !accepted(c, last) {
		t.Fatal("refused before")
	}
	start = time.Now()
	must(t, (&Keys{path: path}).Revoke(records[len(records)-1].ID))
	t.Logf("revoked after %v", time.Since(start).Round(time.Millisecond))
	start = time.Now()
	eventually(t, "refused", func() bool { return !accepted(c, last) })
	t.Logf("refused after %v more", time.Since(start).Round(time.Millisecond))
}
