package signature

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// counted is a ring of keys that counts signatures, and can be made to fail.
type counted struct {
	*keys.Ring

	made atomic.Int64
	turn atomic.Int64
	fail atomic.Bool
}

func (c *counted) Signers() string { return fmt.Sprint(c.turn.Load(), c.Ring.Signers()) }

func (c *counted) Detached(jku string, payload []byte) ([]keys.Detached, error) {
	c.made.Add(1)
	if c.fail.Load() {
		return nil, errors.New("no")
	}
	return c.Ring.Detached(jku, payload)
}

func newRing(t testing.TB) *counted {
	t.Helper()
	r, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return &counted{Ring: r}
}

const compactCard = `{"name":"N","url":"https://a.test/","description":"","skills":[{"id":"s"}],"x":1}`

// TestSignerRemembers: a card is signed once for each set of keys and each shape, however
// many ask for it at once.
func TestSignerRemembers(t *testing.T) {
	t.Parallel()
	ring := newRing(t)
	s := NewSigner(ring, "https://gw.test/jwks")
	first, err := s.Sign([]byte(compactCard), Modern)
	if err != nil || !bytes.HasPrefix(first, []byte(compactCard[:len(compactCard)-1]+`,"signatures":[{`)) {
		t.Fatal(string(first), err)
	}
	made := ring.made.Load()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			again, err := s.Sign([]byte(compactCard), Modern)
			if err != nil || !bytes.Equal(again, first) {
				t.Errorf("got %s, %v", again, err)
			}
		})
	}
	wait.Wait()
	if ring.made.Load() != made {
		t.Error("signed again")
	}
	if mixed, err := s.Sign([]byte(compactCard), Mixed); err != nil || bytes.Equal(mixed, first) {
		t.Errorf("another shape: %s, %v", mixed, err)
	}
	made = ring.made.Load()
	ring.turn.Add(1)
	if _, err := s.Sign([]byte(compactCard), Modern); err != nil || ring.made.Load() == made {
		t.Errorf("other keys: not signed again, %v", err)
	}
	for i := range 2 * maxSigned {
		if _, err := s.Sign(fmt.Appendf(nil, `{"name":"%d"}`, i), Modern); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.done); n > maxSigned {
		t.Errorf("remembers %d", n)
	}
}

func TestSignerFails(t *testing.T) {
	t.Parallel()
	ring := newRing(t)
	s := NewSigner(ring, "")
	for _, card := range []string{"", "[]", `{"name":`, `{"a":1,"a":1}`} {
		if out, err := s.Sign([]byte(card), Modern); err == nil {
			t.Errorf("%s: %s", card, out)
		}
		if out, err := s.SignAgain([]byte(card)); err == nil {
			t.Errorf("%s: %s", card, out)
		}
	}
	if _, err := s.SignAgain([]byte(`{"signatures":[]}`)); err == nil {
		t.Error("nothing was signed")
	}
	ring.fail.Store(true)
	if _, err := s.Sign([]byte(compactCard), Modern); err == nil {
		t.Error("signed without a key")
	}
	ring.fail.Store(false)
	if _, err := s.Sign([]byte(compactCard), Modern); err != nil {
		t.Error("the failure is remembered")
	}
}

// TestSignAgain: signatures are replaced, and what was 0.3 is signed for its readers.
func TestSignAgain(t *testing.T) {
	t.Parallel()
	ring := newRing(t)
	v := newVerifier(t, Trust{Keys: []string{file(t, string(ring.JWKS()))}})
	for card, form := range map[string]Form{
		"{ \"name\": \"N\",\n \"signatures\": [{\"protected\":\"x\"}], \"description\": \"\" }": formMessage,
		`{"name":"N","url":"https://a.test/","protocolVersion":"0.3.0"}`:                        formLegacy,
	} {
		out, err := NewSigner(ring, "").SignAgain([]byte(card))
		if err != nil {
			t.Fatal(err)
		}
		verdict, err := v.Verify(t.Context(), out)
		if err != nil || verdict.Holds().Form != AsReceived {
			t.Errorf("%s: %v, %v", out, verdict, err)
		}
		found := false
		for _, r := range verdict.Signatures {
			if r.Err != nil {
				t.Errorf("%s: %v", out, r.Err)
			}
			found = found || r.Form == form
		}
		if !found {
			t.Errorf("%s: not signed as %s", out, form)
		}
		if again, err := NewSigner(ring, "").SignAgain(out); err != nil || !bytes.Equal(again, out) {
			t.Errorf("signed again it is %s, %v", again, err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	ring := newRing(b)
	for name, kept := range map[string]bool{"kept": true, "new": false} {
		b.Run(name, func(b *testing.B) {
			s := NewSigner(ring, "https://gw.test/.well-known/jwks.json")
			card, err := s.SignAgain([]byte(plainCard))
			if err != nil {
				b.Fatal(err)
			}
			doc, err := read(card)
			if err != nil {
				b.Fatal(err)
			}
			doc = doc.without("signatures")
			card = doc.append(nil)
			b.ReportAllocs()
			for b.Loop() {
				if !kept {
					ring.turn.Add(1)
				}
				if _, err := s.Sign(card, Mixed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, alg := range []string{"ES256", "EdDSA", "RS256"} {
		k := newSigningKey(b, alg, "k1")
		v := newVerifier(b, Trust{Keys: []string{k.pem(b)}})
		card := signed(b, plainCard, k.sign(b, `{"alg":"`+alg+`","kid":"k1"}`, canonical(b, plainCard, AsReceived)))
		b.Run(alg, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), card); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
