package apikey

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func accepted(c *authn.Chain, key string) bool {
	_, err := c.Authenticate(authntest.Request("X-API-Key", key))
	return err == nil
}

func TestL28_RevokedWithoutRestart(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	var log authntest.Log
	c := openKeys(t, path, Options{Logger: log.Logger()})
	if !strings.Contains(log.String(), "missing") {
		t.Errorf("no warning of a missing file: %s", log.String())
	}
	alice := create(t, k, Spec{ID: "alice"})
	authntest.Eventually(t, "first key of a file that was missing", func() bool { return accepted(c, alice) })
	bob := create(t, k, Spec{ID: "bob"})
	authntest.Eventually(t, "second key", func() bool { return accepted(c, bob) })
	if err := k.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	authntest.Eventually(t, "revoked", func() bool { return !accepted(c, alice) })
	if !accepted(c, bob) {
		t.Error("the other key was revoked as well")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	authntest.Eventually(t, "file removed", func() bool { return !accepted(c, bob) })
}

// Without file events the poll sees every change: refresh is all it does.
func TestPollSeesChanges(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	var log authntest.Log
	f := &keyFile{path: path, log: log.Logger(), pause: func() {}}
	f.table.Store(&keyTable{})
	has := func(n int) {
		t.Helper()
		f.refresh()
		if got := len(f.table.Load().keys); got != n {
			t.Errorf("%d keys, want %d", got, n)
		}
	}
	has(0)
	create(t, k, Spec{ID: "alice"})
	has(1)
	create(t, k, Spec{ID: "bob"})
	has(2)
	before := f.table.Load()
	has(2)
	if f.table.Load() != before {
		t.Error("an unchanged file was read again")
	}

	// A broken file keeps the keys and is complained about once.
	write := func(doc string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(doc), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("keys: [", 0o600)
	for range 5 {
		has(2)
	}
	if n := strings.Count(log.String(), "stay in force"); n != 1 {
		t.Errorf("%d complaints: %s", n, log.String())
	}
	write("keys: []", 0o600)
	has(0)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	write("keys: []\n", 0o666)
	has(0)
	if !strings.Contains(log.String(), "written by others") {
		t.Error("no warning of a file that others can write")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	has(0)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	has(0)
	if n := strings.Count(log.String(), "stay in force"); n != 2 {
		t.Errorf("a directory in place of the file: %s", log.String())
	}
}

// A mounted Kubernetes secret changes by a link in the directory, not by the file.
func TestSwappedDirectoryLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name, id string) string {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		return create(t, &File{path: filepath.Join(dir, name, "keys.yaml")}, Spec{ID: id})
	}
	first, second := version("v1", "alice"), version("v2", "bob")
	link := func(to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, "..tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	link("v1")
	if err := os.Symlink("..data/keys.yaml", filepath.Join(dir, "keys.yaml")); err != nil {
		t.Fatal(err)
	}
	c := openKeys(t, filepath.Join(dir, "keys.yaml"), Options{})
	if !accepted(c, first) || accepted(c, second) {
		t.Fatal("first version not in force")
	}
	link("v2")
	authntest.Eventually(t, "second version", func() bool { return accepted(c, second) && !accepted(c, first) })
}

// A directory that is not there yet sends no events, and is no reason not to start:
// the poll finds the file.
func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later")
	path := filepath.Join(dir, "keys.yaml")
	var log authntest.Log
	c := openKeys(t, path, Options{Logger: log.Logger()})
	authntest.Eventually(t, "notice that there are no events", func() bool {
		return strings.Contains(log.String(),
			"polling")
	})
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key := create(t, &File{path: path}, Spec{ID: "alice"})
	authntest.Eventually(t, "key in a directory made later", func() bool { return accepted(c, key) })
}

// An editor that writes in place empties the file first. Nobody's key is refused on
// that account.
func TestEditInPlaceEndsFirst(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	create(t, k, Spec{ID: "alice"})
	create(t, k, Spec{ID: "bob"})
	doc, err := os.ReadFile(path)
	authntest.Must(t, err)
	var log authntest.Log
	f := &keyFile{path: path, log: log.Logger(), pause: func() { t.Error("an unchanged file is waited for") }}
	f.table.Store(&keyTable{})
	f.seen = look(path)
	f.refresh()
	pieces, looks := len(doc)/3, 0
	f.pause = func() {
		looks++
		authntest.Must(t, os.WriteFile(path, doc[:min(looks*pieces, len(doc))], 0o600))
	}
	authntest.Must(t, os.Truncate(path, 0))
	f.refresh()
	if n := len(f.table.Load().keys); n != 2 || looks < 3 {
		t.Errorf("%d keys after %d looks", n, looks)
	}
	// One that never ends is read all the same.
	looks = 0
	f.pause = func() {
		looks++
		authntest.Must(t, os.WriteFile(path, []byte("#"+strings.Repeat("#", looks)), 0o600))
	}
	authntest.Must(t, os.Truncate(path, 0))
	f.refresh()
	if n := len(f.table.Load().keys); n != 0 || looks != settleLooks {
		t.Errorf("%d keys after %d looks", n, looks)
	}
}
