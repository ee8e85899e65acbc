package card_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	gatewaykeys "github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const jku = base + "/.well-known/jwks.json"

// ring has a key of each kind, of which the first signs.
func ring(t testing.TB) *gatewaykeys.Ring {
	t.Helper()
	var paths []string
	for _, algorithm := range []string{"ES256", "EdDSA"} {
		dir := t.TempDir()
		r, err := gatewaykeys.Open(gatewaykeys.Config{Dir: dir, Algorithm: algorithm}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		found, err := filepath.Glob(dir + "/*.pem")
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		paths = append(paths, found[0])
	}
	r, err := gatewaykeys.Open(gatewaykeys.Config{Signing: paths, Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// verifier trusts what a ring publishes.
func verifier(t testing.TB, r *gatewaykeys.Ring) *signature.Verifier {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(path, r.JWKS(), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := signature.New(signature.Trust{Keys: []string{path}}, signature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSigned: every golden card is signed in every form that has signatures, with both
// keys, and is apart from that, to the byte, what it is unsigned. Its entity tag is that
// of what is sent, and replicas with the same keys send the same.
func TestSigned(t *testing.T) {
	t.Parallel()
	r := ring(t)
	check, signer, replica := verifier(t, r), signature.NewSigner(r, jku), signature.NewSigner(r, jku)
	for path, a := range archives(t) {
		c, other := mustParse(t, string(part(a, "agent.json"))), mustParse(t, string(part(a, "agent.json")))
		for _, form := range forms {
			name := filepath.Base(path) + ", " + form.name
			v := form.view(c)
			plain := mustRender(t, c, v)
			v.Signer = signer
			body, etag, err := c.Render(v)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if form.side == (wire.Side{Version: wire.V03, Binding: wire.GRPC}) {
				if string(body) != plain {
					t.Errorf("%s: is signed", name)
				}
				continue
			}
			verdict, err := check.Verify(t.Context(), body)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			by := map[string]int{}
			for _, s := range verdict.Signatures {
				if s.Err != nil || s.JKU != jku {
					t.Errorf("%s: %+v", name, s)
				}
				by[s.Algorithm]++
			}
			whole := verdict.Holds().Form == signature.AsReceived
			if by["ES256"] == 0 || by["ES256"] != by["EdDSA"] || whole == strings.Contains(plain, oddNumber) {
				t.Errorf("%s: signed %v, %s", name, by, verdict)
			}
			if !strings.HasPrefix(string(body), plain[:len(plain)-1]+`,"signatures":[`) {
				t.Errorf("%s: is changed: %s", name, body)
			}
			sum := sha256.Sum256(body)
			if etag != `"`+base64.RawURLEncoding.EncodeToString(sum[:16])+`"` {
				t.Errorf("%s: tag %s", name, etag)
			}
			v.Signer = replica
			if again, tag, err := other.Render(v); err != nil || tag != etag || !bytes.Equal(again, body) {
				t.Errorf("%s: another replica sends %s, %v", name, again, err)
			}
		}
	}
}

// TestSignedIsRead: the Go SDK keeps the signatures, in both its readings.
func TestSignedIsRead(t *testing.T) {
	t.Parallel()
	r := ring(t)
	c := mustParse(t, `{"name":"n","url":"https://a.test/","protocolVersion":"0.3.0","skills":[{"id":"s"}]}`)
	for _, form := range forms[:2] {
		v := form.view(c)
		v.Signer = signature.NewSigner(r, jku)
		var got a2a.AgentCard
		if err := json.Unmarshal([]byte(mustRender(t, c, v)), &got); err != nil || len(got.Signatures) < 2 ||
			got.Signatures[0].Protected == "" || got.Signatures[0].Signature == "" {
			t.Errorf("%s: %+v, %v", form.name, got.Signatures, err)
		}
	}
	v := formed(c, wire.Side{Version: wire.V10, Binding: wire.GRPC})
	v.Signer = signature.NewSigner(r, jku)
	if m := message(t, wire.V10, []byte(mustRender(t, c, v))); !strings.Contains(m.(interface{ String() string }).String(), "signatures") {
		t.Errorf("gRPC: %v", m)
	}
}

// TestSignedByOthers: a card is signed anew when other keys sign, and only then.
func TestSignedByOthers(t *testing.T) {
	t.Parallel()
	first, second := ring(t), ring(t)
	c := mustParse(t, `{"name":"n"}`)
	v := view(c, wire.V10)
	v.Signer = signature.NewSigner(first, jku)
	one := mustRender(t, c, v)
	v.Signer = signature.NewSigner(second, jku)
	two := mustRender(t, c, v)
	if _, err := verifier(t, second).Verify(t.Context(), []byte(two)); err != nil || one == two {
		t.Errorf("signed by the keys of before: %v", err)
	}
}

// oddNumber is in an unknown member of a golden card, and not a double: of such a card only
// what is known is signed.
const oddNumber = "12345678901234567890"

// TestUnsignable: a card that readers would not agree on is served, and not signed.
func TestUnsignable(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","capabilities":{"extensions":[{"uri":"https://gw.example.com/ext/v1","params":{"n":`+oddNumber+`}}]}}`)
	v := view(c, wire.V10)
	plain := mustRender(t, c, v)
	v.Signer = signature.NewSigner(ring(t), jku)
	if got := mustRender(t, c, v); got != plain || strings.Contains(got, "signatures") {
		t.Errorf("got %s", got)
	}
}

func BenchmarkRenderSigned(b *testing.B) {
	c, err := card.Parse([]byte(benchCard))
	if err != nil {
		b.Fatal(err)
	}
	signer := signature.NewSigner(ring(b), jku)
	for name, fresh := range map[string]bool{"kept": false, "same card anew": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			v := view(c, wire.V10)
			v.Signer = signer
			for b.Loop() {
				if fresh {
					if c, err = card.Parse([]byte(benchCard)); err != nil {
						b.Fatal(err)
					}
				}
				if _, _, err := c.Render(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const benchCard = `{"name":"Billing","description":"Bills.","version":"1","url":"https://a.test/","protocolVersion":"0.3.0",
 "skills":[{"id":"pay","name":"Pay","description":"Pays.","tags":["money"]},{"id":"bill","name":"Bill","description":"Bills.","tags":["money"]}]}`
