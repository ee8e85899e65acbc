package push

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	stdjson "encoding/json"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// gcm is a state.Cipher of one key.
type gcm struct{ cipher.AEAD }

func newCipher(t testing.TB) gcm {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return gcm{aead}
}

func (g gcm) Seal(plain, aad []byte) []byte           { return g.AEAD.Seal(nil, nil, plain, aad) }
func (g gcm) Open(sealed, aad []byte) ([]byte, error) { return g.AEAD.Open(nil, nil, sealed, aad) }

func sample() *Delivery {
	return &Delivery{
		ID: "n-1", Agent: "billing", Task: "task-1", Config: "c-1", Name: "mine", Owner: "iss|alice",
		URL: "https://hooks.example/in?key=canary-query", Version: wire.V10, Body: []byte(`{"task":"canary-body"}`),
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		Token:       secret.New("canary-token"), Scheme: "Bearer", Credentials: secret.New("canary-credentials"),
	}
}

func TestDeliveryIsStoredSealed(t *testing.T) {
	t.Parallel()
	c, d := newCipher(t), sample()
	it, err := d.item(c)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(it.Data, []byte("canary")) || strings.Contains(it.Line, "task-1") {
		t.Errorf("the item shows what it holds: %q %s", it.Data, it.Line)
	}
	got, err := openItem(it, c)
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b secret.Value) bool { return a.Equal(b) })
	if diff := cmp.Diff(d, got, same); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for name, spoil := range map[string]func(){
		"another id":   func() { it.ID = "n-2" },
		"another line": func() { it.Line = lineOf("billing", "task-2", "c-1") },
		"changed":      func() { it.Data = bytes.Clone(it.Data); it.Data[20] ^= 1 },
	} {
		before := it
		spoil()
		if _, err := openItem(it, c); err == nil {
			t.Errorf("%s: was opened", name)
		}
		it = before
	}
	if _, err := openItem(it, newCipher(t)); err == nil {
		t.Error("another key: was opened")
	}
}

// TestDeliveryNeverPrintsSecrets tries every way in which a value gets into a log.
func TestDeliveryNeverPrintsSecrets(t *testing.T) {
	t.Parallel()
	d := sample()
	var log bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&log, nil))
	l.Info("x", "pointer", d, "value", *d, "group", struct{ D *Delivery }{d})
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "pointer", d, "value", *d, "list", []Delivery{*d})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+" "+verb+" "+verb, d, *d, []*Delivery{d})
	}
	text, err := stdjson.Marshal(map[string]any{"d": d, "v": *d})
	if err != nil {
		t.Fatal(err)
	}
	log.Write(text)
	if got := log.String(); strings.Contains(got, "canary") || !strings.Contains(got, "hooks.example") {
		t.Errorf("printed: %s", got)
	}
}

// TestLinesAreTheirOwn: no choice of ids makes the line of other ids.
func TestLinesAreTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, ids := range [][3]string{
		{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a", "", "bc"}, {"", "", "abc"},
		{"a\x01b", "", "c"}, {strings.Repeat("t", 5000), "", ""},
	} {
		line := lineOf(ids[0], ids[1], ids[2])
		if other, ok := seen[line]; ok || len(line) > 1024 {
			t.Errorf("%q has the line of %s", ids, other)
		}
		seen[line] = fmt.Sprintf("%q", ids)
	}
}
