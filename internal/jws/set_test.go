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

// TestSet: what is no set, or has no key that can be used, is refused with the reasons.
func TestSet(t *testing.T) {
	t.Parallel()
	plain := webKeyOf(t, newEC(t), "ec", "")
	rsaKey := webKeyOf(t, rsaKeys()[0].Public(), "rsa", "")
	for name, test := range map[string]struct {
		doc, want string
	}{
		"nothing":         {``, "EOF"},
		"not JSON":        {`<html>`, "invalid character"},
		"cut off":         {setOf(plain)[:40], "EOF"},
		"two documents":   {setOf(plain) + setOf(rsaKey), "after top-level value"},
		"no keys":         {setOf(), "no key that can verify a signature"},
		"null":            {`null`, "no key that can verify a signature"},
		"one key, no set": {plain, "no key that can verify a signature"},
		"keys an object":  {`{"keys":{}}`, "keys"},
		"keys twice":      {`{"keys":[],"keys":[]}`, `duplicate member "keys"`},
		"large":           {setOf(plain) + strings.Repeat(" ", MaxSet), "more than 262144 bytes"},
		"one without its numbers": {
			setOf(`{"kty":"RSA","kid":"x"}`),
			`no key that can verify a signature: key 0, kid "x": go-jose/go-jose: invalid RSA key, missing n/e values`,
		},
		"several": {
			setOf(`{"kty":"oct","k":"AA"}`, `{"kty":"x"}`, `1`, `[]`, `""`),
			"no key that can verify a signature: key 0: a symmetric key; key 1: not a key that can verify a signature; key 2: json: ",
		},
		"and more": {setOf(`1`, `2`, `3`, `4`, `5`), "; and 2 more"},
	} {
		set, err := whole().Set([]byte(test.doc))
		if err == nil || !strings.Contains(err.Error(), test.want) || set != nil {
			t.Errorf("%s: got %+v, %v, want %q", name, set, err, test.want)
		}
	}
}

// TestSetSkips a key that cannot be used, whatever is wrong with it, and keeps the others.
func TestSetSkips(t *testing.T) {
	t.Parallel()
	good := newEC(t)
	other := webKeyOf(t, newEC(t), "x", "")
	ec := func(more string) string { return webKeyOf(t, newEC(t), "x", more) }
	rsaKey := webKeyOf(t, rsaKeys()[0].Public(), "x", "")
	for name, test := range map[string]struct {
		key    string
		reason Reason
		want   string
	}{
		"null":                 {`null`, reasonOther, "not a key"},
		"no members":           {`{}`, reasonOther, "not a key"},
		"a kind of tomorrow":   {`{"kty":"AKP","kid":"x","alg":"ML-DSA-44","pub":"AA"}`, reasonOther, "not a key"},
		"X25519":               {`{"kty":"OKP","crv":"X25519","kid":"x","x":"AA"}`, reasonOther, "not a key"},
		"DSA":                  {`{"kty":"DSA","kid":"x","p":"AA","q":"AA","y":"AA"}`, reasonOther, "not a key"},
		"secp256k1":            {`{"kty":"EC","crv":"secp256k1","kid":"x","x":"AA","y":"AA"}`, reasonOther, "not a key"},
		"encryption":           {ec(`,"use":"enc"`), reasonOther, "not a key"},
		"cannot verify":        {ec(`,"key_ops":["sign"]`), reasonOther, "not a key"},
		"another algorithm":    {ec(`,"alg":"ES384"`), reasonOther, "not a key"},
		"HMAC by another name": {ec(`,"alg":"HS256"`), reasonOther, "not a key"},
		"RSA for ES256":        {`{"kty":"RSA","alg":"ES256","kid":"x"}`, reasonOther, "not a key"},
		"a number":             {`1`, reasonMalformed, "json: "},
		"a list":               {`[]`, reasonMalformed, "json: "},
		"member twice":         {`{"kid":"a",` + other[1:], reasonMalformed, "duplicate"},
		"invalid UTF-8":        {`{"a":"` + "\xff" + `",` + other[1:], reasonMalformed, "UTF-8"},
		"a use a number":       {ec(`,"use":1`), reasonMalformed, "json: "},
		"a kid a number":       {strings.Replace(other, `"x"`, `7`, 1), reasonMalformed, "json: "},
		"no n, no e":           {`{"kty":"RSA","kid":"x"}`, reasonMalformed, "missing n/e"},
		"no e":                 {`{"kty":"RSA","kid":"x","n":"AQAB"}`, reasonMalformed, "missing n/e"},
		"n no base64":          {`{"kty":"RSA","kid":"x","n":"!","e":"AQAB"}`, reasonMalformed, "base64"},
		"e a number":           {`{"kty":"RSA","kid":"x","n":"AQAB","e":65537}`, reasonMalformed, "json: "},
		"no point":             {`{"kty":"EC","crv":"P-256","kid":"x"}`, reasonMalformed, "missing x/y"},
		"off the curve":        {strings.Replace(other, `"x":"`, `"x":"AAAA`, 1), reasonMalformed, "go-jose"},
		"Ed25519 without x":    {`{"kty":"OKP","crv":"Ed25519","kid":"x"}`, reasonMalformed, "missing x"},
		"RSA of 1024 bits":     {`{"kty":"RSA","kid":"x","e":"AQAB","n":"` + strings.Repeat("_", 171) + `"}`, reasonWeak, "want 2048 to 8192"},
		"even exponent":        {strings.Replace(rsaKey, `"AQAB"`, `"AQAA"`, 1), reasonWeak, "exponent 65536"},
		"small order":          {`{"kty":"OKP","crv":"Ed25519","kid":"x","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, reasonMalformed, "low-order"},
		"symmetric":            {`{"kty":"oct","kid":"x","k":"c2VjcmV0"}`, reasonSecret, "a symmetric key"},
		"symmetric, no secret": {`{"kty":"oct","kid":"x"}`, reasonSecret, "a symmetric key"},
		"k in another":         {ec(`,"k":"c2VjcmV0"`), reasonSecret, "a symmetric key"},
		"k null":               {ec(`,"k":null`), reasonSecret, "a symmetric key"},
		"private":              {ec(`,"d":"AQAB"`), reasonSecret, "a private key"},
		"private, encryption":  {ec(`,"d":"AQAB","use":"enc"`), reasonSecret, "a private key"},
		"a prime":              {strings.Replace(rsaKey, `"n"`, `"p":"AQAB","n"`, 1), reasonSecret, "a private key"},
		"an exponent":          {strings.Replace(rsaKey, `"n"`, `"dq":"AQAB","n"`, 1), reasonSecret, "a private key"},
		"other primes":         {strings.Replace(rsaKey, `"n"`, `"oth":[],"n"`, 1), reasonSecret, "a private key"},
		"kid too long":         {webKeyOf(t, newEC(t), strings.Repeat("k", MaxKeyID+1), ""), reasonExcess, "a kid of more than 256 bytes"},
	} {
		for place, doc := range []string{
			setOf(test.key, webKeyOf(t, good, "good", `,"x5c":["garbage"]`)), setOf(webKeyOf(t, good, "good", `,"exp":"never"`), test.key),
		} {
			set, err := whole().Set([]byte(doc))
			if err != nil || len(set.Keys) != 1 || !good.Equal(set.Keys[0].Public) || len(set.Skipped) != 1 {
				t.Errorf("%s: got %+v, %v", name, set, err)
				continue
			}
			s := set.Skipped[0]
			if s.Index != place || s.Reason != test.reason || !strings.Contains(s.String(), test.want) || strings.Contains(s.String(), "c2VjcmV0") {
				t.Errorf("%s: skipped %s (%s), want %q (%s)", name, s, s.Reason, test.want, test.reason)
			}
		}
	}
}

// TestSetKeeps the keys of a profile in their order, each once.
func TestSetKeeps(t *testing.T) {
	t.Parallel()
	public := newEC(t)
	plain := webKeyOf(t, public, "a", `,"alg":"ES256","use":"sig","key_ops":["sign","verify"]`)
	doc := setOf(plain, webKeyOf(t, rsaKeys()[0].Public(), "", ""), plain, webKeyOf(t, newEC(t), "", ""), webKeyOf(t, rsaKeys()[0].Public(), "", ""))
	set, err := whole().Set([]byte(doc))
	if err != nil || len(set.Skipped) != 0 {
		t.Fatal(set, err)
	}
	list := set.Keys
	if len(list) != 3 || list[0].ID != "a" || list[0].Algorithm != "ES256" || !public.Equal(list[0].Public) ||
		list[1].ID != "" || list[1].Algorithm != "" || !rsaKeys()[0].PublicKey.Equal(list[1].Public) {
		t.Errorf("got %+v", list)
	}
	few, err := Profile{Algorithms: []string{"RS256"}}.Set([]byte(doc))
	if err != nil || len(few.Keys) != 1 || !few.Keys[0].Same(list[1]) || len(few.Skipped) != 3 {
		t.Errorf("of RS256 alone: %+v, %v", few, err)
	}
	if _, err := (Profile{}).Set([]byte(doc)); err == nil {
		t.Error("a profile of nothing takes something")
	}
}

// TestSetBounds: of one kid, and of all, the first ones are taken.
func TestSetBounds(t *testing.T) {
	t.Parallel()
	var same, many []string
	for range MaxSameID + 1 {
		same = append(same, webKeyOf(t, newEC(t), "a", ""))
	}
	for i := range MaxKeys + 2 {
		many = append(many, webKeyOf(t, newEC(t), fmt.Sprint(i), ""))
	}
	unknown := slices.Repeat([]string{`{"kty":"x"}`}, MaxKeys+1)
	for name, test := range map[string]struct {
		keys          []string
		taken, beyond int
		want          string
	}{
		"of one kid":          {same, MaxSameID, 1, "more than 4 keys of this kid"},
		"of all":              {many, MaxKeys, 2, "more than 50 keys"},
		"what is not for us":  {append(unknown, same[0]), 1, 0, ""},
		"not looked at":       {append(slices.Repeat(unknown[:1], maxMembers-1), same[0], same[1]), 1, 1, "more than 200 keys"},
		"one key again":       {slices.Repeat(same[:1], MaxKeys+1), 1, 0, ""},
		"beyond the bound":    {append(slices.Clone(same), webKeyOf(t, newEC(t), "b", "")), MaxSameID + 1, 1, "this kid"},
		"of no kid, not tied": {[]string{webKeyOf(t, newEC(t), "", ""), webKeyOf(t, newEC(t), "", "")}, 2, 0, ""},
	} {
		set, err := whole().Set([]byte(setOf(test.keys...)))
		if err != nil || len(set.Keys) != test.taken {
			t.Errorf("%s: got %+v, %v", name, set, err)
			continue
		}
		var beyond []Skipped
		for _, s := range set.Skipped {
			if s.Reason == reasonExcess {
				beyond = append(beyond, s)
			}
		}
		if len(beyond) != test.beyond || test.beyond > 0 && !strings.Contains(beyond[0].String(), test.want) {
			t.Errorf("%s: skipped %v, want %d with %q", name, beyond, test.beyond, test.want)
		}
	}
}

// TestSetDisowns a key whose private half stands in the set, under whatever name.
func TestSetDisowns(t *testing.T) {
	t.Parallel()
	leaked, good := newEC(t), newEC(t)
	set, err := whole().Set([]byte(setOf(webKeyOf(t, leaked, "a", ""), webKeyOf(t, good, "b", ""), webKeyOf(t, leaked, "c", `,"use":"enc","d":"AQAB"`))))
	if err != nil || len(set.Keys) != 1 || set.Keys[0].ID != "b" || len(set.Skipped) != 2 {
		t.Fatal(set, err)
	}
	if s := set.Skipped[1]; s.String() != `key 0, kid "a": its private half is in the set` || s.Reason != reasonSecret {
		t.Errorf("got %s (%s)", s, s.Reason)
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
			set, err := p.Set([]byte(setOf(webKeyOf(t, public, "a", more))))
			if !dated {
				want = Key{}
			}
			if err != nil || !set.Keys[0].NotBefore.Equal(want.NotBefore) || !set.Keys[0].NotAfter.Equal(want.NotAfter) {
				t.Errorf("dated %v, %s: got %+v, %v", dated, more, set, err)
			}
		}
	}
	p := Profile{Algorithms: []string{"ES256"}, Dated: true}
	if _, err := p.Set([]byte(setOf(webKeyOf(t, public, "a", `,"exp":"never"`)))); err == nil {
		t.Error("a date that is none is passed over")
	}
	twice, err := p.Set([]byte(setOf(webKeyOf(t, public, "a", `,"exp":30`), webKeyOf(t, public, "a", `,"nbf":10,"exp":20`), webKeyOf(t, public, "a", ""))))
	if err != nil || len(twice.Keys) != 1 || twice.Keys[0].NotBefore.Unix() != 10 || twice.Keys[0].NotAfter.Unix() != 20 {
		t.Errorf("one key with three terms: %+v, %v", twice, err)
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

// FuzzSet: whatever a document is, the keys that are read of it are public, few, each there
// once, and good for something; the same ones are read again.
func FuzzSet(f *testing.F) {
	f.Add([]byte(setOf(webKeyOf(f, newEC(f), "a", `,"alg":"ES256"`), webKeyOf(f, rsaKeys()[0].Public(), "b", ""))))
	for _, seed := range []string{
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","exp":1,"revoked":{}}]}`,
		`{"keys":[{"kty":"oct","k":"AA"}]}`, `{"keys":[{"kty":"RSA","n":"AA","e":"AQAB"}]}`, `{"keys":[null,{}]}`, `{"keys":[{"kty":"RSA","kid":"x"},1,{"kid":"a","kid":"b"}],"keys":[]}`, `{"keys":null}`, `{`,
		`{"keys":[{"kty":"EC","crv":"P-256","x":"","y":"","use":"sig","key_ops":["verify"]}]}`,
	} {
		f.Add([]byte(seed))
	}
	p := whole()
	p.Dated = true
	f.Fuzz(func(t *testing.T, doc []byte) {
		set, err := p.Set(doc)
		if err != nil {
			return
		}
		list := set.Keys
		for _, s := range set.Skipped {
			if !slices.Contains(reasons(), s.Reason) || s.Err == nil || len(s.ID) > MaxKeyID {
				t.Fatalf("skipped %+v", s)
			}
		}
		if len(list) == 0 || len(list) > MaxKeys || len(doc) > MaxSet {
			t.Fatalf("%d keys of %d bytes", len(list), len(doc))
		}
		var again []string
		for i, k := range list {
			if slices.ContainsFunc(list[:i], k.Same) {
				t.Fatalf("key %q twice", k.ID)
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
		if err != nil || len(second.Skipped) > 0 || !slices.EqualFunc(list, second.Keys, (*Key).Same) {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
