package jwt

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// say answers with a document.
func say(doc string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, doc) }
}

func withPrivate(k jose.JSONWebKey) jose.JSONWebKey {
	k.Key = authntest.EcKey()
	return k
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`{"kty":"unknown","kid":"%d"}`, i)
	}
	return strings.Join(keys, ",")
}

func make1024() []byte {
	b := make([]byte, 128)
	_, _ = rand.Read(b)
	b[0] |= 0x80
	b[127] |= 1
	return b
}
