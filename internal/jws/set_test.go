package jws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// webKeyOf is a public key as a set has it, with more members behind.
func webKeyOf(t testing.TB, public any, kid, more string) string {
	t.Helper()
	doc, err := json.Marshal(jose.JSONWebKey{Key: public, KeyID: kid})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(doc), "}") + more + "}"
}

func newEC(t testing.TB) *ecdsa.PublicKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &k.PublicKey
}

func setOf(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }

// TestSet: what is not a set of sane public keys is refused whole.
func TestSet(t *testing.T) {
	t.Parallel()
	public := newEC(t)
	plain := webKeyOf(t, public, "ec", "")
	ec := func(more string) string { return webKeyOf(t, public, "ec", more) }
	rsaKey := webKeyOf(t, rsaKeys()[0].Public(), "rsa", "")
	short := `{"kty":"RSA","kid":"w","e":"AQAB","n":"` + strings.Repeat("_", 171) + `"}`
	unknown := slices.Repeat([]string{`{"kty":"x"}`}, MaxKeys)
	for name, test := range map[string]struct {
		doc, want string
	}{
		"nothing":              {``, "EOF"},
		"not JSON":             {`<html>`, "invalid character"},
		"cut off":              {setOf(plain)[:40], "EOF"},
		"two documents":        {setOf(plain) + setOf(rsaKey), "after top-level value"},
		"no keys":              {setOf(), "no key that can verify"},
		"one key, no set":      {plain, "no key that can verify"},
		"keys an object":       {`{"keys":{}}`, "keys"},
		"keys twice":           {`{"keys":[],"keys":[]}`, "duplicate"},
		"member twice":         {setOf(`{"kid":"a",` + plain[1:]), "duplicate"},
		"a key a list":         {setOf(`[]`), "key 0: "},
		"a use a number":       {setOf(ec(`,"use":1`)), "key 0: "},
		"more keys":            {setOf(append(unknown, plain)...), "51 keys, more than 50"},
		"large":                {setOf(plain) + strings.Repeat(" ", MaxSet), "more than 262144 bytes"},
		"symmetric":            {setOf(plain, `{"kty":"oct","k":"c2VjcmV0"}`), "key 1: a symmetric key"},
		"symmetric, no secret": {setOf(`{"kty":"oct"}`), "a symmetric key"},
		"k in another":         {setOf(ec(`,"k":"c2VjcmV0"`)), "a symmetric key"},
		"k null":               {setOf(ec(`,"k":null`)), "a symmetric key"},
		"private":              {setOf(ec(`,"d":"AQAB"`)), "a private key"},
		"private, encryption":  {setOf(ec(`,"d":"AQAB","use":"enc"`)), "a private key"},
		"a prime":              {setOf(plain, strings.Replace(rsaKey, `"n"`, `"p":"AQAB","n"`, 1)), "key 1: a private key"},
		"an exponent":          {setOf(strings.Replace(rsaKey, `"n"`, `"dq":"AQAB","n"`, 1)), "a private key"},
		"other primes":         {setOf(strings.Replace(rsaKey, `"n"`, `"oth":[],"n"`, 1)), "a private key"},
		"kid twice":            {setOf(plain, strings.Replace(rsaKey, `"rsa"`, `"ec"`, 1)), `key 1: kid "ec" twice`},
		"kid too long":         {setOf(webKeyOf(t, public, strings.Repeat("k", MaxKeyID+1), "")), "a kid of more than 256 bytes"},
		"off the curve":        {setOf(strings.Replace(plain, `"x":"`, `"x":"AAAA`, 1)), "key 0: "},
		"no numbers":           {setOf(`{"kty":"EC","crv":"P-256"}`), "key 0: "},
		"weak RSA":             {setOf(plain, short), "key 1: an RSA key of 1"},
		"even exponent":        {setOf(strings.Replace(rsaKey, `"AQAB"`, `"AQAA"`, 1)), "exponent 65536"},
		"encryption":           {setOf(ec(`,"use":"enc"`)), "no key that can verify"},
		"cannot verify":        {setOf(ec(`,"key_ops":["sign"]`)), "no key that can verify"},
		"another algorithm":    {setOf(ec(`,"alg":"ES384"`)), "no key that can verify"},
		"HMAC by another name": {setOf(ec(`,"alg":"HS256"`)), "no key that can verify"},
	} {
		list, err := whole().Set([]byte(test.doc))
		if err == nil || !strings.Contains(err.Error(), test.want) || list != nil {
			t.Errorf("%s: got %d keys, %v, want %q", name, len(list), err, test.want)
		}
	}
}

// TestSetSkips what is for others, whatever it is called, and keeps the rest in its order.
func TestSetSkips(t *testing.T) {
	t.Parallel()
	public := newEC(t)
	doc := setOf(`null`, `{}`, `{"kty":"AKP","kid":"a","alg":"ML-DSA-44","pub":"AA"}`, `{"kty":"OKP","crv":"X25519","kid":"a","x":"AA"}`,
		`{"kty":"DSA","kid":"a","p":"AA","q":"AA","y":"AA"}`, `{"kty":"EC","crv":"secp256k1","kid":"a","x":"AA","y":"AA"}`,
		`{"kty":"RSA","use":"enc","kid":"a","n":"AA","e":"AQAB"}`, `{"kty":"RSA","alg":"RSA-OAEP","kid":"a"}`,
		`{"kty":"RSA","alg":"ES256","kid":"a"}`, `{"kty":"EC","alg":"ES256","crv":"P-384","kid":"a"}`,
		webKeyOf(t, public, "a", `,"alg":"ES256","use":"sig","key_ops":["sign","verify"],"x5c":["AA"],"exp":"never"`),
		webKeyOf(t, rsaKeys()[0].Public(), "", ""), webKeyOf(t, newEC(t), "", ""))
	list, err := whole().Set([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0].ID != "a" || list[0].Algorithm != "ES256" || !public.Equal(list[0].Public) ||
		list[1].ID != "" || list[1].Algorithm != "" || !rsaKeys()[0].PublicKey.Equal(list[1].Public) {
		t.Errorf("got %+v", list)
	}
	few, err := Profile{Algorithms: []string{"RS256"}}.Set([]byte(doc))
	if err != nil || len(few) != 1 || !few[0].Same(list[1]) {
		t.Errorf("of RS256 alone: %+v, %v", few, err)
	}
	if _, err := (Profile{}).Set([]byte(doc)); err == nil {
		t.Error("a profile of nothing takes something")
	}
}

// TestDates: they count where the profile says so, and elsewhere are as if not there.
func TestDates(t *testing.T) {
	t.Parallel()
	public := newEC(t)
	for more, want := range map[string]Key{
		``:                           {},
		`,"nbf":10,"exp":20`:         {NotBefore: time.Unix(10, 0), NotAfter: time.Unix(20, 0)},
		`,"exp":20,"revoked":null`:   {NotAfter: time.Unix(20, 0)},
		`,"exp":20,"revoked":{}`:     {NotAfter: time.Unix(0, 0)},
		`,"nbf":10,"revoked":"then"`: {NotBefore: time.Unix(10, 0), NotAfter: time.Unix(0, 0)},
	} {
		for _, dated := range []bool{true, false} {
			p := Profile{Algorithms: []string{"ES256"}, Dated: dated}
			list, err := p.Set([]byte(setOf(webKeyOf(t, public, "a", more))))
			if !dated {
				want = Key{}
			}
			if err != nil || !list[0].NotBefore.Equal(want.NotBefore) || !list[0].NotAfter.Equal(want.NotAfter) {
				t.Errorf("dated %v, %s: got %+v, %v", dated, more, list, err)
			}
		}
	}
	if _, err := (Profile{Algorithms: []string{"ES256"}, Dated: true}).Set([]byte(setOf(webKeyOf(t, public, "a", `,"exp":"never"`)))); err == nil {
		t.Error("a date that is none is passed over")
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	public := newEC(t)
	good := webKeyOf(t, public, "", "")
	for name, test := range map[string]struct{ doc, want string }{
		"good":            {good, ""},
		"its use":         {webKeyOf(t, public, "", `,"use":"sig"`), ""},
		"nothing":         {``, "EOF"},
		"null":            {`null`, "not a key that can verify"},
		"text":            {`"key"`, "string"},
		"encryption":      {webKeyOf(t, public, "", `,"use":"enc"`), "not a key that can verify"},
		"private":         {webKeyOf(t, public, "", `,"d":"AA"`), "a private key"},
		"a prime":         {webKeyOf(t, public, "", `,"p":"AA"`), "a private key"},
		"symmetric":       {`{"kty":"oct","k":"AA"}`, "a symmetric key"},
		"a number padded": {strings.Replace(good, `"x":"`, `"e":"AQAB=","x":"`, 1), "illegal base64"},
		"a line break":    {strings.Replace(good, `"y":"`, `"y":"\n`, 1), "illegal base64"},
		"unused bits":     {strings.Replace(good, `"y":"`, `"n":"AB","y":"`, 1), "illegal base64"},
	} {
		k, err := whole().Key([]byte(test.doc))
		switch {
		case test.want == "" && (err != nil || !public.Equal(k.Public)):
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (k != nil || err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// FuzzSet: whatever a document is, the keys that are read of it are public, few, told
// apart by their kids, and good for something; the same ones are read again.
func FuzzSet(f *testing.F) {
	f.Add([]byte(setOf(webKeyOf(f, newEC(f), "a", `,"alg":"ES256"`), webKeyOf(f, rsaKeys()[0].Public(), "b", ""))))
	for _, seed := range []string{
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","exp":1,"revoked":{}}]}`,
		`{"keys":[{"kty":"oct","k":"AA"}]}`, `{"keys":[{"kty":"RSA","n":"AA","e":"AQAB"}]}`, `{"keys":[null,{}]}`, `{"keys":null}`, `{`,
		`{"keys":[{"kty":"EC","crv":"P-256","x":"","y":"","use":"sig","key_ops":["verify"]}]}`,
	} {
		f.Add([]byte(seed))
	}
	p := whole()
	p.Dated = true
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, err := p.Set(doc)
		if err != nil {
			return
		}
		if len(list) == 0 || len(list) > MaxKeys || len(doc) > MaxSet {
			t.Fatalf("%d keys of %d bytes", len(list), len(doc))
		}
		var again []string
		for i, k := range list {
			if slices.ContainsFunc(list[:i], func(o *Key) bool { return o.ID == k.ID && k.ID != "" }) {
				t.Fatalf("kid %q twice", k.ID)
			}
			if taken, err := p.Take(k.Public); err != nil || taken.Thumbprint != k.Thumbprint || len(k.ID) > MaxKeyID {
				t.Fatalf("%+v: %v", k, err)
			}
			if !p.some(k.Suits) {
				t.Fatalf("key %+v is for nothing", k)
			}
			alg := ""
			if k.Algorithm != "" {
				alg = fmt.Sprintf(`,"alg":%q`, k.Algorithm)
			}
			again = append(again, webKeyOf(t, k.Public, k.ID, alg))
		}
		second, err := p.Set([]byte(setOf(again...)))
		if err != nil || !slices.EqualFunc(list, second, (*Key).Same) {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
