package authn

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keyStore is an empty key file in a directory of its own.
func keyStore(t testing.TB) (*Keys, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	k, err := OpenKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func create(t testing.TB, k *Keys, spec KeySpec) string {
	t.Helper()
	_, key, err := k.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func openKeys(t testing.TB, path string, o Options) *Chain {
	t.Helper()
	return open(t, Config{APIKeys: &APIKeys{File: path}}, o)
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	key := create(t, k, KeySpec{ID: "alice_2", Subject: "alice", Groups: []string{"analysts"}, Scopes: []string{"billing.read"},
		Agents: []string{"billing"}, Tenant: "acme", Expires: expires})
	p, err := openKeys(t, path, Options{}).Authenticate(request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	want := &Principal{Subject: "alice", Issuer: "api-keys", Tenant: "acme", Groups: []string{"analysts"},
		Scopes: []string{"billing.read"}, Method: "api-key", KeyID: "alice_2", Agents: []string{"billing"}, Expires: expires,
		key: "8:api-keys5:alice"}
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(Principal{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !p.MayUse("billing") || p.MayUse("weather") {
		t.Error("agent binding does not hold")
	}
}

func TestL28_MutatedKeys(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, KeySpec{ID: "alice"})
	other := create(t, k, KeySpec{ID: "bob"})
	c := openKeys(t, path, Options{})
	secret := key[len("a2a_alice_"):]
	bad := []string{"", " ", "a2a_", "a2a__", "a2a_alice", "a2a_alice_", key + "=", key + " ", " " + key, key + "A", "A" + key,
		key[1:], key[:len(key)-1], key + key, key + "," + other, strings.ToUpper(key), strings.ToLower(key) + "",
		"A2A_" + key[4:], "a2a-" + key[4:], "a2a_Alice_" + secret, "a2a_bob_" + secret, "a2a_carol_" + secret,
		"a2a_alice." + secret, "a2a_alice_" + strings.Repeat("A", 43), "a2a_alice_\x00" + secret[1:],
		"a2a_al\u0131ce_" + secret, "a2a_" + strings.Repeat("x", 65) + "_" + secret, "Bearer " + key,
		"a2a_alice_" + other[len("a2a_bob_"):], "sha256:" + strings.Repeat("0", 64), strings.Repeat("a", 1<<16)}
	for i := range len(key) { // each character cut out, and each one changed
		bad = append(bad, key[:i]+key[i+1:], key[:i]+string(key[i]^1)+key[i+1:], key[:i]+string(key[i]^0x20)+key[i+1:])
	}
	reasons := map[string]bool{}
	for _, b := range bad {
		if b == key {
			continue // a digit has no case
		}
		p, err := c.Authenticate(request("X-API-Key", b))
		f := faultOf(err)
		if p != nil || f != "unknown-api-key" && f != "malformed" {
			t.Errorf("%q: %v, %v", b, p, err)
			continue
		}
		reasons[strings.Join(c.Challenges("r", "", err, ""), "")] = true
	}
	if len(reasons) != 1 {
		t.Errorf("callers can tell refusals apart: %v", reasons)
	}
	for _, g := range []string{key, other} {
		if _, err := c.Authenticate(request("X-API-Key", g)); err != nil {
			t.Errorf("good key refused: %v", err)
		}
	}
}

// The steps for an unknown id are those for a known one: same hash, same
// comparison, no allocation more. (A clock would only measure the machine.)
func TestL28_SameWorkForUnknownIDs(t *testing.T) {
	k, path := keyStore(t)
	key := create(t, k, KeySpec{ID: "alice"})
	table := openKeys(t, path, Options{}).keys.file.table.Load()
	now := time.Now()
	wrong, unknown := key[:len(key)-2]+"AA", strings.Replace(key, "alice", "carol", 1)
	for name, candidate := range map[string]string{"good": key, "wrong secret": wrong, "unknown id": unknown} {
		if n := testing.AllocsPerRun(100, func() { table.verify(candidate, now) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	_, a := table.verify(wrong, now)
	_, b := table.verify(unknown, now)
	if a != b {
		t.Errorf("faults differ: %s, %s", a, b)
	}
	if p, _ := (&keyTable{none: storedKey{hash: hashKey(unknown), principal: &Principal{}}}).verify(unknown, now); p != nil {
		t.Error("the stand-in for unknown ids can be presented")
	}
}

func TestL28_ExpiredKey(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	expires := time.Now().Add(time.Hour)
	key := create(t, k, KeySpec{ID: "alice", Expires: expires})
	now := time.Now()
	c := openKeys(t, path, Options{Now: func() time.Time { return now }})
	for _, tt := range []struct {
		at   time.Time
		want string
	}{{expires.Add(-time.Second), "ok"}, {expires.Add(time.Second), "api-key-expired"}} {
		now = tt.at
		_, err := c.Authenticate(request("X-API-Key", key))
		want(t, tt.at.String(), faultOf(err), tt.want)
	}
}

// The text of a key is nowhere but in the answer of Create.
func TestL28_KeyIsNowhere(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, KeySpec{ID: "alice"})
	secret := key[len("a2a_alice_"):]
	var log logTo
	c := openKeys(t, path, Options{Logger: log.logger()})
	p, err := c.Authenticate(request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	_, refused := c.Authenticate(request("X-API-Key", key+"x"))
	_, ambiguous := c.Authenticate(request("X-API-Key", key, "X-API-Key", key))
	specs, _ := k.List()
	_, duplicate, dupErr := k.Create(KeySpec{ID: "alice"})
	if dupErr == nil || duplicate != "" {
		t.Error("second key under the same id")
	}
	var disk strings.Builder
	dir, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range dir {
		doc, _ := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		disk.WriteString(e.Name() + string(doc))
	}
	asJSON, _ := json.Marshal([]any{specs, p})
	for name, text := range map[string]string{"principal": fmt.Sprintf("%v %+v %#v", p, *p, p), "log": log.String(),
		"errors": fmt.Sprint(refused, ambiguous, dupErr), "challenges": fmt.Sprint(c.Challenges("r", "", refused, "")),
		"list": fmt.Sprintf("%+v", specs), "JSON": string(asJSON), "disk": disk.String()} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[:20]) {
			t.Errorf("%s holds the secret: %s", name, text)
		}
	}
}

func TestKeysCreateListRevoke(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	before := time.Now().Add(-time.Second)
	id, key, err := k.Create(KeySpec{Subject: "alice", Agents: []string{}})
	if err != nil || !validID(id) || !strings.HasPrefix(key, "a2a_"+id+"_") {
		t.Fatalf("%q, %q, %v", id, key, err)
	}
	create(t, k, KeySpec{ID: "bob", Groups: []string{"a: b", "#c"}, Tenant: "ü"})
	got, err := k.List()
	if err != nil || len(got) != 2 || got[0].Created.Before(before) {
		t.Fatalf("%+v, %v", got, err)
	}
	wantSpecs := []KeySpec{{ID: id, Subject: "alice"}, {ID: "bob", Subject: "bob", Groups: []string{"a: b", "#c"}, Tenant: "ü"}}
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
	for name, spec := range map[string]KeySpec{
		"expired": {ID: "a", Expires: time.Now().Add(-time.Hour)}, "id with a blank": {ID: "a b"}, "id with a slash": {ID: "a/b"},
		"id too long": {ID: strings.Repeat("a", 65)}, "id with a dot first": {ID: ".a"}, "subject with a line break": {ID: "a", Subject: "x\ny"},
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
			own, err := OpenKeys(path)
			if err == nil {
				_, _, err = own.Create(KeySpec{ID: fmt.Sprint("key-", i)})
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
	create(t, k, KeySpec{ID: "first"})
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	linked, err := OpenKeys(link)
	if err != nil {
		t.Fatal(err)
	}
	create(t, linked, KeySpec{ID: "second"})
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
		_, err := OpenKeys(path)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if c, err := New(t.Context(), Config{APIKeys: &APIKeys{File: path}}, Options{}); err == nil {
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
		if n == 1 && (records[0].principal().MayUse("any") || records[0].principal().Subject != "a") {
			t.Error("an empty list of agents allows agents")
		}
	}
}

func FuzzSplitKey(f *testing.F) {
	for _, s := range []string{mintKey("alice"), mintKey("a_b.c-d"), "", "a2a_", "a2a__" + strings.Repeat("A", 43),
		"a2a_x_" + strings.Repeat("A", 42), "A2A_x_" + strings.Repeat("A", 43)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		id, ok := splitKey(key)
		if !ok {
			return
		}
		secret := strings.TrimPrefix(key, "a2a_"+id+"_")
		if !validID(id) || len(secret) != secretLength || "a2a_"+id+"_"+secret != key || len(key) > maxKeyLength {
			t.Fatalf("%q split into %q", key, id)
		}
		if slices.ContainsFunc([]byte(key), func(b byte) bool { return b <= ' ' || b > '~' || b == '"' || b == ',' }) {
			t.Fatalf("%q holds a byte that no key has", key)
		}
	})
}

func FuzzParseKeyFile(f *testing.F) {
	f.Add([]byte("keys:\n- {id: a, hash: sha256:" + strings.Repeat("ab", 32) + ", expires: 2030-01-01T00:00:00Z}"))
	f.Add([]byte("keys: [{}]"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		records, err := parseKeyFile(doc)
		if err != nil {
			return
		}
		table, err := newKeyTable(records)
		if err == nil && len(table.byID) != len(records) {
			t.Fatalf("%d keys of %d records", len(table.byID), len(records))
		}
	})
}
