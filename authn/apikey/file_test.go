package apikey

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKeysCreateListRevoke(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	before := time.Now().Add(-time.Second)
	id, key, err := k.Create(Spec{Subject: "alice", Agents: []string{}})
	if err != nil || !validID(id) || !strings.HasPrefix(key, "a2a_"+id+"_") {
		t.Fatalf("%q, %q, %v", id, key, err)
	}
	create(t, k, Spec{ID: "bob", Groups: []string{"a: b", "#c"}, Tenant: "ü"})
	got, err := k.List()
	if err != nil || len(got) != 2 || got[0].Created.Before(before) {
		t.Fatalf("%+v, %v", got, err)
	}
	wantSpecs := []Spec{{ID: id, Subject: "alice"}, {ID: "bob", Subject: "bob", Groups: []string{"a: b",
		"#c"}, Tenant: "ü"}}
	for i := range got {
		got[i].Created = time.Time{}
	}
	if diff := cmp.Diff(wantSpecs, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v", info.Mode(), err)
	}
	if err := k.Revoke("nobody"); err == nil || !strings.Contains(err.Error(), "nobody") || !isNotExist(err) {
		t.Errorf("revoke nobody: %v", err)
	}
	if err := k.Revoke(id); err != nil {
		t.Fatal(err)
	}
	if got, _ := k.List(); len(got) != 1 || got[0].ID != "bob" {
		t.Errorf("after revoke: %+v", got)
	}
}

func isNotExist(err error) bool { return strings.Contains(err.Error(), fs.ErrNotExist.Error()) }

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	for name, spec := range map[string]Spec{
		"expired": {ID: "a", Expires: time.Now().Add(-time.Hour)}, "id with a blank": {ID: "a b"},
		"id with a slash": {ID: "a/b"},
		"id too long":     {ID: strings.Repeat("a", 65)}, "id with a dot first": {ID: ".a"},
		"subject with a line break": {ID: "a", Subject: "x\ny"},
	} {
		if id, key, err := k.Create(spec); err == nil || id != "" || key != "" {
			t.Errorf("%s: %q, %q, %v", name, id, key, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused key made a file")
	}
}

// Keys made at the same time are all there afterwards, and the file is whole at
// every moment in between.
func TestConcurrentCreate(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	const n = 24
	results := make(chan error, n)
	for i := range n {
		go func() {
			// Each with a handle of its own, as separate processes would have.
			own, err := Open(path)
			if err == nil {
				_, _, err = own.Create(Spec{ID: fmt.Sprint("key-", i)})
			}
			results <- err
		}()
	}
	for range n {
		if err := <-results; err != nil {
			t.Error(err)
		}
		if _, err := k.List(); err != nil {
			t.Errorf("file is not whole: %v", err)
		}
	}
	if got, err := k.List(); err != nil || len(got) != n {
		t.Errorf("%d keys, want %d (%v)", len(got), n, err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	names := []string{}
	for _, e := range left {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{".keys.yaml.lock", "keys.yaml"}, names); diff != "" {
		t.Errorf("left in the directory: %s", diff)
	}
}

// An edit through a symbolic link changes the file it leads to.
func TestCreateFollowsLinks(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	create(t, k, Spec{ID: "first"})
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	linked, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	create(t, linked, Spec{ID: "second"})
	if got, _ := k.List(); len(got) != 2 {
		t.Errorf("target has %d keys", len(got))
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

func TestBrokenKeyFiles(t *testing.T) {
	t.Parallel()
	hash := "hash: sha256:" + strings.Repeat("ab", 32)
	secret := mintKey("alice")
	for name, doc := range map[string]string{
		"not YAML":         "keys: [",
		"unknown field":    "keys:\n- {id: a, " + hash + ", admin: true}",
		"unknown section":  "users: []",
		"id twice":         "keys:\n- {id: a, " + hash + "}\n- {id: a, " + hash + "}",
		"hash twice":       "keys:\n- {id: a, " + hash + "}\n- {id: b, " + hash + "}",
		"field twice":      "keys:\n- {id: a, id: b, " + hash + "}",
		"no hash":          "keys:\n- {id: a}",
		"no id":            "keys:\n- {" + hash + "}",
		"short hash":       "keys:\n- {id: a, hash: sha256:abcd}",
		"other hash":       "keys:\n- {id: a, hash: md5:" + strings.Repeat("ab", 32) + "}",
		"key for a hash":   "keys:\n- {id: a, hash: " + secret + "}",
		"bad date":         "keys:\n- {id: a, " + hash + ", expires: tomorrow}",
		"second document":  "keys: []\n---\nkeys: []",
		"groups a mapping": "keys:\n- {id: a, " + hash + ", groups: {a: b}}",
	} {
		path := filepath.Join(t.TempDir(), "keys.yaml")
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if c, err := tryAPIKeys(&Config{File: path}, Options{}); err == nil {
			c.Close()
			t.Errorf("%s: a chain was built", name)
		}
	}
}

func TestHandWrittenKeyFile(t *testing.T) {
	t.Parallel()
	for doc, n := range map[string]int{"": 0, "# nothing\n": 0, "keys:\n": 0, "keys: []": 0, "{}": 0,
		"keys:\n- {id: a, agents: [], hash: sha256:" + strings.Repeat("AB", 32) + "}": 1} {
		records, err := parseKeyFile([]byte(doc))
		if err != nil || len(records) != n {
			t.Errorf("%q: %d, %v", doc, len(records), err)
		}
		table, err := newKeyTable(records)
		if err != nil || len(table.keys) != n {
			t.Fatalf("%q: %v", doc, err)
		}
		if n == 1 && (table.principal(0, "").MayUse("any") || table.principal(0, "").Subject != "a") {
			t.Error("an empty list of agents allows agents")
		}
	}
}

func FuzzParseKeyFile(f *testing.F) {
	f.Add([]byte("keys:\n- {id: a, hash: sha256:" + strings.Repeat("ab",
		32) + ", expires: 2030-01-01T00:00:00Z}"))
	f.Add([]byte("keys: [{}]"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		records, err := parseKeyFile(doc)
		if err != nil {
			return
		}
		table, err := newKeyTable(records)
		if err == nil && len(table.keys) != len(records) {
			t.Fatalf("%d keys of %d records", len(table.keys), len(records))
		}
	})
}
