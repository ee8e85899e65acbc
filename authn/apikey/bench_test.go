package apikey

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func BenchmarkAPIKey(b *testing.B) {
	for _, n := range []int{1, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			records, key := manyRecords(n)
			_, path := keyStore(b)
			c := openKeys(b, path, Options{})
			From(c).file.table.Store(tableOf(b, records...))
			r := authntest.Request("X-API-Key", key)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var errNobodyKnows = errors.New("nobody knows")

// A key that was revoked elsewhere is refused as one that was taken out of the file, and
// while nobody knows which were, none is accepted.
func TestKeysRevokedElsewhere(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key, other := create(t, k, Spec{ID: "bob"}), create(t, k, Spec{ID: "eve"})
	var revoked, unknown atomic.Bool
	c := openKeys(t, path, Options{Revoked: func(id string) (bool, error) {
		if unknown.Load() {
			return false, errNobodyKnows
		}
		return revoked.Load() && id == "bob", nil
	}})
	p, err := c.Authenticate(authntest.Request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	revoked.Store(true)
	_, refused := c.Authenticate(authntest.Request("X-API-Key", key))
	authntest.Want(t, "revoked", authntest.FaultOf(refused), "unknown-api-key")
	authntest.Want(t, "its streams", authntest.FaultOf(c.Stands(p)), "unknown-api-key")
	_, err = c.Authenticate(authntest.Request("X-API-Key", other))
	authntest.Want(t, "another", authntest.FaultOf(err), "ok")
	_, missing := c.Authenticate(authntest.Request("X-API-Key", strings.Replace(key, "a2a_bob_", "a2a_gone_", 1)))
	if refused.Error() != missing.Error() {
		t.Errorf("%q tells revoked keys from missing ones: %q", refused, missing)
	}
	unknown.Store(true)
	if _, err := c.Authenticate(authntest.Request("X-API-Key", other)); !errors.Is(err, authn.ErrUnavailable) {
		t.Errorf("while nobody knows: %v", err)
	}
	if err := c.Stands(p); !errors.Is(err, authn.ErrUnavailable) {
		t.Errorf("streams, while nobody knows: %v", err)
	}
	// A key that is none is refused for what it is.
	_, err = c.Authenticate(authntest.Request("X-API-Key", "a2a_x"))
	authntest.Want(t, "no key", authntest.FaultOf(err), "malformed")
}

func BenchmarkAPIKeyRevocations(b *testing.B) {
	records, key := manyRecords(1)
	_, path := keyStore(b)
	known := map[string]struct{}{"another": {}}
	c := openKeys(b, path, Options{Revoked: func(id string) (bool, error) {
		_, revoked := known[id]
		return revoked, nil
	}})
	From(c).file.table.Store(tableOf(b, records...))
	r := authntest.Request("X-API-Key", key)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}
