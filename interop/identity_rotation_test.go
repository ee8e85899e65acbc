package interop_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// rotation: while calls go on the provider signs with a key that it never announced,
// then with one that it did. Nobody is turned away.
func (i *identity) rotation(t *testing.T) {
	_, agent := recorder(t, "agent")
	g := i.start(t, house{agents: agent})
	first := i.issuer.token(t, grant{client: "interop"}).Token
	g.want(t, "the first token", bearer(first), http.StatusOK)
	l := &load{identity: i, gateway: g, old: first}
	l.signed.Store(kid(t, first), true)
	t.Run("under load", func(t *testing.T) {
		for n := range 4 {
			t.Run(fmt.Sprint(n), l.run)
		}
	})
	keys := 0
	l.signed.Range(func(any, any) bool { keys++; return true })
	if keys != 3 {
		t.Errorf("%d keys signed tokens, want 3", keys)
	}
}

// load is made by several clients at once: each has new tokens all the time, and an old
// one that has to remain good.
type load struct {
	*identity
	*gateway

	old    string
	calls  atomic.Int32
	signed sync.Map // ids of the keys that signed the tokens
}

// run is one client. Whoever makes certain calls has the provider sign with another key.
func (l *load) run(t *testing.T) {
	t.Parallel()
	for l.calls.Load() < 240 {
		token := l.issuer.token(t, grant{client: "interop"}).Token
		l.signed.Store(kid(t, token), true)
		var calls sync.WaitGroup
		for _, shown := range []string{l.old, token, token, token, token, token} {
			request := l.request(t, "agent", bearer(shown))
			calls.Go(func() {
				if status, err := send(http.DefaultClient, request); status != http.StatusOK || err != nil {
					t.Errorf("old token %v: %d, %v", shown == l.old, status, err)
				}
			})
			if n := l.calls.Add(1); n == 80 || n == 160 {
				l.issuer.rotate(t)
			}
		}
		calls.Wait()
	}
}

// kid is the id of the key that signed a token.
func kid(t *testing.T, token string) string {
	t.Helper()
	signed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	return signed.Signatures[0].Header.KeyID
}
