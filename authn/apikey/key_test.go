package apikey

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// keyStore is an empty key file in a directory of its own.
func keyStore(t testing.TB) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	k, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func create(t testing.TB, k *File, spec Spec) string {
	t.Helper()
	_, key, err := k.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func openKeys(t testing.TB, path string, o Options) *authn.Chain {
	t.Helper()
	return openAPIKeys(t, &Config{File: path}, o)
}

func openAPIKeys(t testing.TB, cfg *Config, o Options) *authn.Chain {
	t.Helper()
	c, err := tryAPIKeys(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// tryAPIKeys builds a chain of API keys alone.
func tryAPIKeys(cfg *Config, o Options) (*authn.Chain, error) {
	var c *authn.Chain
	o.Where = func() string { return c.Where() }
	keys, err := New(cfg, o)
	if err != nil {
		return nil, err
	}
	c = authn.NewChain(authn.Setup{Schemes: []authn.Scheme{keys}, Now: time.Now, Observe: func(string, string) {}})
	return c, nil
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	key := create(t, k, Spec{ID: "alice_2", Subject: "alice", Groups: []string{"analysts"},
		Scopes: []string{"billing.read"},
		Agents: []string{"billing"}, Tenant: "acme", Owner: "payments", Expires: expires})
	p, err := openKeys(t, path, Options{}).Authenticate(authntest.Request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	want := &authn.Principal{Subject: "alice", Issuer: "api-keys", Tenant: "acme", Groups: []string{"analysts"},
		Scopes: []string{"billing.read"}, Method: "api-key", KeyID: "alice_2", Agents: []string{"billing"},
		Expires: expires, Owner: "payments", Carrier: "X-Api-Key"}
	want.KnownBy(hashKey(key))
	want.Attest(nil)
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(authn.Principal{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !p.MayUse("billing") || p.MayUse("weather") {
		t.Error("agent binding does not hold")
	}
}

func TestL28_MutatedKeys(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, Spec{ID: "alice"})
	other := create(t, k, Spec{ID: "bob"})
	c := openKeys(t, path, Options{})
	strangers, elsewhere := keyStore(t)
	create(t, strangers, Spec{ID: "zoe"})
	none := openKeys(t, elsewhere, Options{}) // knows none of these
	secret := key[len("a2a_alice_"):]
	bad := []string{"", " ", "a2a_", "a2a__", "a2a_alice", "a2a_alice_", key + "=", key + " ", " " + key,
		key + "A", "A" + key,
		key[1:], key[:len(key)-1], key + key, key + "," + other, strings.ToUpper(key), strings.ToLower(key) + "",
		"A2A_" + key[4:], "a2a-" + key[4:], "a2a_Alice_" + secret, "a2a_bob_" + secret, "a2a_carol_" + secret,
		"a2a_alice." + secret, "a2a_alice_" + strings.Repeat("A", 43), "a2a_alice_\x00" + secret[1:],
		"a2a_al\u0131ce_" + secret, "a2a_" + strings.Repeat("x", 65) + "_" + secret, "Bearer " + key,
		"a2a_alice_" + other[len("a2a_bob_"):], "sha256:" + strings.Repeat("0", 64), strings.Repeat("a", 1<<16)}
	for i := range len(key) { // each character cut out, and each one changed
		bad = append(bad, key[:i]+key[i+1:], key[:i]+string(key[i]^1)+key[i+1:],
			key[:i]+string(key[i]^0x20)+key[i+1:])
	}
	reasons := map[string]bool{}
	for _, b := range bad {
		if b == key {
			continue // a digit has no case
		}
		p, err := c.Authenticate(authntest.Request("X-API-Key", b))
		f := authntest.FaultOf(err)
		if p != nil || f != "unknown-api-key" && f != "malformed" {
			t.Errorf("%q: %v, %v", b, p, err)
			continue
		}
		told := strings.Join(c.Challenges(authn.Demand{Realm: "r", Err: err}), "")
		if strings.HasPrefix(b, credential.KeyPrefix) {
			reasons[told] = true
		}
		// What else is told is of the form alone, the same whichever keys there are.
		_, err = none.Authenticate(authntest.Request("X-API-Key", b))
		if other := strings.Join(none.Challenges(authn.Demand{Realm: "r", Err: err}), ""); other != told {
			t.Errorf("%q: told %q, and %q where there is no such key", b, told, other)
		}
	}
	if len(reasons) != 1 {
		t.Errorf("callers can tell refusals apart: %v", reasons)
	}
	for _, g := range []string{key, other} {
		if _, err := c.Authenticate(authntest.Request("X-API-Key", g)); err != nil {
			t.Errorf("good key refused: %v", err)
		}
	}
}

// The steps for an unknown id are those for a known one: same hash, same
// comparison, no allocation more. (A clock would only measure the machine.)
func TestL28_SameWorkForUnknownIDs(t *testing.T) {
	k, path := keyStore(t)
	key := create(t, k, Spec{ID: "alice"})
	table := From(openKeys(t, path, Options{})).file.table.Load()
	now := time.Now()
	// The last character of a key stands for four bits, and so is never a B.
	wrong, unknown := key[:len(key)-1]+"B", strings.Replace(key, "alice", "carol", 1)
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
	if _, f := (&keyTable{none: storedKey{hash: hashKey(unknown), expires: never}}).verify(unknown, now); f == "" {
		t.Error("the stand-in for unknown ids can be presented")
	}
}

func TestL28_ExpiredKey(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	expires := time.Now().Add(time.Hour)
	key := create(t, k, Spec{ID: "alice", Expires: expires})
	now := time.Now()
	c := openKeys(t, path, Options{Now: func() time.Time { return now }})
	for _, tt := range []struct {
		at   time.Time
		want string
	}{{expires.Add(-time.Second), "ok"}, {expires.Add(time.Second), "api-key-expired"}} {
		now = tt.at
		_, err := c.Authenticate(authntest.Request("X-API-Key", key))
		authntest.Want(t, tt.at.String(), authntest.FaultOf(err), tt.want)
	}
}

// The text of a key is nowhere but in the answer of Create.
func TestL28_KeyIsNowhere(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, Spec{ID: "alice"})
	secret := key[len("a2a_alice_"):]
	var log authntest.Log
	c := openKeys(t, path, Options{Logger: log.Logger()})
	p, err := c.Authenticate(authntest.Request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	_, refused := c.Authenticate(authntest.Request("X-API-Key", key+"x"))
	_, ambiguous := c.Authenticate(authntest.Request("X-API-Key", key, "X-API-Key", key))
	specs, _ := k.List()
	_, duplicate, dupErr := k.Create(Spec{ID: "alice"})
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
	for name, text := range map[string]string{"principal": fmt.Sprintf("%v %+v %#v", p, *p, p),
		"log":    log.String(),
		"errors": fmt.Sprint(refused, ambiguous, dupErr), "challenges": fmt.Sprint(c.Challenges(authn.Demand{Realm: "r", Err: refused})),
		"list": fmt.Sprintf("%+v", specs), "JSON": string(asJSON), "disk": disk.String()} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[:20]) {
			t.Errorf("%s holds the secret: %s", name, text)
		}
	}
}

func FuzzSplitKey(f *testing.F) {
	for _, s := range []string{mintKey("alice"), mintKey("a_b.c-d"), "", "a2a_", "a2a__" + strings.Repeat("A",
		43),
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
		if slices.ContainsFunc([]byte(key), func(b byte) bool {
			return b <= ' ' || b > '~' || b == '"' ||
				b == ','
		}) {
			t.Fatalf("%q holds a byte that no key has", key)
		}
	})
}
