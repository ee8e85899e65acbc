package apikey

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// specOf is a key as it is listed.
func specOf(t *testing.T, k *File, id string) Spec {
	t.Helper()
	all, err := k.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no key %q in %+v", id, all)
	return Spec{}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	expires := time.Now().Add(100 * time.Hour)
	first := create(t, k, Spec{ID: "alice", Subject: "al", Groups: []string{"g"}, Scopes: []string{"s"},
		Agents: []string{"a"}, Tenant: "t", Owner: "o", Expires: expires})
	id, second, err := k.Rotate("alice", 24*time.Hour)
	if err != nil || id != "alice.2" || !strings.HasPrefix(second, "a2a_alice.2_") {
		t.Fatalf("%q, %v", id, err)
	}
	old, next := specOf(t, k, "alice"), specOf(t, k, "alice.2")
	if d := time.Until(old.Expires); old.ReplacedBy != "alice.2" || d > 24*time.Hour || d < 23*time.Hour {
		t.Errorf("old: %+v", old)
	}
	if d := time.Until(next.Expires); d > 100*time.Hour || d < 99*time.Hour {
		t.Errorf("new: %+v", next)
	}
	next.ID, next.Created, next.Expires, next.ReplacedBy = old.ID, old.Created, old.Expires, old.ReplacedBy
	if diff := cmp.Diff(old, next); diff != "" {
		t.Errorf("-old +new\n%s", diff)
	}
	c := openKeys(t, path, Options{})
	a, errA := c.Authenticate(authntest.Request("X-API-Key", first))
	b, errB := c.Authenticate(authntest.Request("X-API-Key", second))
	if errA != nil || errB != nil || a.Key() != b.Key() || a.KeyID == b.KeyID {
		t.Errorf("%v, %v; %v, %v", a, errA, b, errB)
	}
	later := openKeys(t, path, Options{Now: func() time.Time { return time.Now().Add(24 * time.Hour) }})
	if accepted(later, first) || !accepted(later, second) {
		t.Error("after the overlap")
	}
	if id, _, err := k.Rotate("alice.2", 0); err != nil || id != "alice.3" {
		t.Errorf("%q, %v", id, err)
	}
	if now := openKeys(t, path, Options{}); accepted(now, second) || !accepted(now, first) {
		t.Error("without overlap")
	}
}

// A rotation never makes a key live longer, nor its successor longer than it was.
func TestRotateLifetimes(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	for name, tt := range map[string]struct {
		spec     Spec
		old, new time.Duration // from now; 0: never
	}{
		"endless":       {Spec{ID: "a", Created: now.Add(-time.Hour)}, 2 * time.Hour, 0},
		"long":          {Spec{ID: "a", Created: now.Add(-time.Hour), Expires: now.Add(9 * time.Hour)}, 2 * time.Hour, 10 * time.Hour},
		"about to end":  {Spec{ID: "a", Created: now.Add(-9 * time.Hour), Expires: now.Add(time.Hour)}, time.Hour, 10 * time.Hour},
		"made later":    {Spec{ID: "a", Created: now.Add(9 * time.Hour), Expires: now.Add(time.Hour)}, time.Hour, time.Hour},
		"orphan of one": {Spec{ID: "a", Created: now.Add(-9 * time.Hour), Expires: now.Add(time.Hour), ReplacedBy: "b"}, time.Hour, time.Hour},
	} {
		k, _ := keyStore(t)
		create(t, k, tt.spec)
		id, _, err := k.Rotate("a", 2*time.Hour)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		near := func(which string, got time.Time, want time.Duration) {
			t.Helper()
			if want == 0 != got.IsZero() || want != 0 && got.Sub(now.Add(want)).Abs() > time.Minute {
				t.Errorf("%s: %s key ends %v, want in %v", name, which, got, want)
			}
		}
		near("old", specOf(t, k, "a").Expires, tt.old)
		near("new", specOf(t, k, id).Expires, tt.new)
	}
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	if _, _, err := k.Rotate("alice", 0); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "alice") {
		t.Errorf("no such key: %v", err)
	}
	create(t, k, Spec{ID: "alice"})
	if _, _, err := k.Rotate("alice", -time.Second); err == nil {
		t.Error("overlap below 0")
	}
	if _, _, err := k.Rotate("alice", 0); err != nil {
		t.Fatal(err)
	}
	before, _ := readKeys(path)
	if id, key, err := k.Rotate("alice", 0); err == nil || id != "" || key != "" || !strings.Contains(err.Error(), "alice.2") {
		t.Errorf("replaced already: %q, %v", id, err)
	}
	if err := k.Revoke("alice.2"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Rotate("alice", 0); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
	if after, _ := readKeys(path); len(after) != len(before)-1 {
		t.Errorf("%d keys", len(after))
	}
}

func TestNextID(t *testing.T) {
	t.Parallel()
	all := []keyRecord{{Spec: Spec{ID: "a.2"}}, {Spec: Spec{ID: "a.3"}}}
	for id, want := range map[string]string{"a": "a.4", "a.2": "a.4", "a.9": "a.10", "b": "b.2", "b.1": "b.1.2",
		"b.x": "b.x.2", "b.": "b..2", "b-7": "b-7.2", "b.99999999999999999999": "b.99999999999999999999.2"} {
		if got := nextID(id, all); got != want || !validID(got) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got := nextID(strings.Repeat("a", maxID), nil); !validID(got) || len(got) > maxID {
		t.Errorf("%q", got)
	}
}
