package keys

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/json"
)

// compact is the whole JWS, for somebody else's code.
func compact(d Detached, payload string) string {
	return d.Protected + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + "." + d.Signature
}

// TestDetached signs with the current key and the one beside it, of both kinds, and has
// every signature verified by the published set.
func TestDetached(t *testing.T) {
	t.Parallel()
	const jku, payload = "https://gw.test/\"jwks", `{"name":"€"}`
	es, ed, more := written(t, es256), written(t, edDSA), written(t, es256)
	r := opened(t, Config{Signing: []string{es, ed, more}}, &journal{}, &clock{now: epoch})
	replica := opened(t, Config{Signing: []string{es, ed, more}}, &journal{}, &clock{now: epoch})
	list, err := r.Detached(jku, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range list {
		ids = append(ids, verified(t, r, compact(d, payload)))
		doc, _ := base64.RawURLEncoding.DecodeString(d.Protected)
		var header map[string]string
		if err := json.Unmarshal(doc, &header); err != nil {
			t.Fatal(err)
		}
		if header["jku"] != jku || header["typ"] != "JOSE" || len(header) != 4 {
			t.Errorf("header %v", header)
		}
	}
	if !slices.Equal(ids, published(t, r)[:2]) {
		t.Errorf("signed with %v of %v", ids, published(t, r))
	}
	for range 3 {
		again, err := replica.Detached(jku, []byte(payload))
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("a replica signs %v, want %v, %v", again, list, err)
		}
	}
	other, err := r.Detached("", []byte(payload+" "))
	if err != nil || other[0].Signature == list[0].Signature || other[0].Protected == list[0].Protected {
		t.Errorf("another payload: %v, %v", other, err)
	}
	if _, err := r.Detached("\xff", nil); err == nil {
		t.Error("a jku that is not UTF-8 was signed")
	}
}

// TestSigners changes with the keys that sign, and with nothing else.
func TestSigners(t *testing.T) {
	t.Parallel()
	now := &clock{now: epoch}
	r := opened(t, Config{Dir: t.TempDir(), Rotate: hour(10), Retain: hour(1)}, &journal{}, now)
	seen := []string{r.Signers()}
	for _, after := range []time.Duration{hour(7).Std(), hour(8).Std(), hour(10).Std(), hour(11).Std()} {
		now.set(after)
		r.Refresh()
		if s := r.Signers(); s != seen[len(seen)-1] {
			seen = append(seen, s)
		}
	}
	if len(seen) != 4 { // the next is published, takes over, and the last is withdrawn
		t.Errorf("signers %q", seen)
	}
}

func TestDetachedZero(t *testing.T) {
	t.Parallel()
	var r Ring
	if _, err := r.Detached("", nil); err == nil || r.Signers() != "" {
		t.Error("signed without a key")
	}
}

func BenchmarkDetached(b *testing.B) {
	payload := make([]byte, 2000)
	for _, algorithm := range []string{es256, edDSA} {
		b.Run(algorithm, func(b *testing.B) {
			r := opened(b, Config{Dir: b.TempDir(), Algorithm: algorithm}, &journal{}, &clock{now: epoch})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Detached("https://gw.test/.well-known/jwks.json", payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
