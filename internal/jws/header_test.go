package jws

import (
	"bytes"
	"encoding/base64"
	"testing"
)

// FuzzDecode: what is decoded has one spelling.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "AA", "AB", "AA==", "A\nA", "-_", "+/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, part string) {
		doc, err := Decode(part)
		if again := base64.RawURLEncoding.EncodeToString(doc); err == nil && again != part {
			t.Fatalf("%q is another spelling of %q", part, again)
		}
		if bare, looser := base64.RawURLEncoding.DecodeString(part); err == nil && (looser != nil || !bytes.Equal(bare, doc)) {
			t.Fatalf("%q: %x to others", part, bare)
		}
	})
}

func TestBanned(t *testing.T) {
	t.Parallel()
	read := []string{"alg", "kid", "jku"}
	for name, want := range map[string]bool{
		"alg": false, "ALG": true, "kid": false, "Kid": true, "jku": false, "JKU": true, "jwk": true, "JwK": true, "x5u": true, "x5c": true,
		"crit": true, "b64": true, "zip": true, "enc": true, "p2c": true, "typ": false, "TYP": false, "x5t": false, "iat": false, "": false,
	} {
		if got := Banned(name, read...); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if !Banned("jku") {
		t.Error("jku is not banned where nobody reads it")
	}
}
