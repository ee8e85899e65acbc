package signature

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

func seeds(f *testing.F) {
	f.Helper()
	paths, err := filepath.Glob("testdata/sdk/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		card, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(card)
	}
	for _, card := range []string{
		plainCard, "\xef\xbb\xbf{}", `{"a":[1e400,9007199254740993,-0]}`, `{"signatures":[{"protected":"e30","signature":"AA","header":{}}]}`,
		`{"name":"n","capabilities":{"extensions":[{"uri":"u","params":{"v":1e999}}]}}`,
		`{"securitySchemes":{"k":{"type":"apiKey","in":"header"}},"security":[{"k":[]}],"url":"u","additionalInterfaces":[{}],"skills":[{"security":[1]}]}`,
	} {
		f.Add([]byte(card))
	}
}

// FuzzVerify: whatever a card is, it is judged, and where a signature holds, what it covers
// is JSON that the card has all of.
func FuzzVerify(f *testing.F) {
	seeds(f)
	v, err := New(Trust{Keys: []string{"testdata/sdk/keys.jwks"}}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, card []byte) {
		verdict, err := v.Verify(t.Context(), card)
		if (err == nil) != (verdict.Holds() != nil) || (err == nil) != (verdict.Payload != nil) {
			t.Fatalf("%v: %v", verdict, err)
		}
		if err == nil && !json.Valid(verdict.Payload) {
			t.Fatalf("covers %q", verdict.Payload)
		}
	})
}

// FuzzForms: every form of whatever is read is JSON, those in RFC 8785 are as the library
// has it, those in ASCII are ASCII; the card itself is not changed by it.
func FuzzForms(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, card []byte) {
		doc, err := read(card)
		if err != nil {
			return
		}
		before := doc.append(nil)
		list, _ := payloads(doc)
		for _, p := range list {
			if !json.Valid(p.body) {
				t.Fatalf("%s: %q", p.form, p.body)
			}
			switch p.form {
			case formMessageASCII, formLegacy:
				if bytes.ContainsFunc(p.body, func(r rune) bool { return r > '~' || r < ' ' }) {
					t.Fatalf("%s: %q", p.form, p.body)
				}
			default:
				again := jsontext.Value(bytes.Clone(p.body))
				if err := again.Canonicalize(); err != nil || !bytes.Equal(again, p.body) {
					t.Fatalf("%s: %q is not canonical, %v", p.form, p.body, err)
				}
			}
		}
		if after := doc.append(nil); !bytes.Equal(before, after) {
			t.Fatalf("changed from %q to %q", before, after)
		}
	})
}

// FuzzKeys: whatever a file or an answer is, its keys are public and good for something.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{
		`{"keys":[{"kty":"EC","crv":"P-256","x":"","y":""}]}`, `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","exp":1}`,
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", `{"keys":[]}`, `{"kty":"RSA","n":"AQAB","e":"AQAB"}`, "{",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		set, err := parseKeys(doc)
		if err != nil {
			return
		}
		list := set.Keys
		if len(list) == 0 || len(list) > jws.MaxKeys {
			t.Fatalf("%d keys", len(list))
		}
		for _, k := range list {
			if _, err := profile.Take(k.Public); err != nil {
				t.Fatalf("a key for nothing: %+v", k)
			}
		}
	})
}

// FuzzHeader: what is accepted names one of the algorithms, and is read as others read it.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0", "e30", "", "e31", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJFUzI1NiIsImI2NCI6ZmFsc2V9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, protected string) {
		h, err := readHeader(protected)
		if err != nil {
			return
		}
		if _, ok := profile.Lookup(h.alg); !ok {
			t.Fatalf("alg %q", h.alg)
		}
		doc, err := decode(protected, maxHeader)
		var other struct{ Alg, Kid, JKU string }
		if err != nil || json.Unmarshal(doc, &other) != nil || other.Alg != h.alg || other.Kid != h.kid || other.JKU != h.jku {
			t.Fatalf("%q is %+v to others", doc, other)
		}
	})
}
