package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// secrets are what has to be found, by detector. They are made up: none opens anything.
var secrets = map[string][]string{
	"email": {"alice@example.com", "bob.o'neil+tag@mail.example.co.uk", "jörg@müller.example", "carol%40example.com", "a_b@x-y.example"},
	"card": {
		"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "5555555555554444", "3782 822463 10005",
		"6011111111111117", "30569309025904", "3530111333300000", "2223003122003222", "4222222222222", "4111\u00a01111\u00a01111\u00a01111",
	},
	"token": {
		"Bearer abcdefghij0123456789", "bearer:  QWxhZGRpbjpvcGVu1", "DPoP abcdefgh1234", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
		"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl", "https://alice:hunter2@db.example/x",
	},
	"key": {
		"AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + strings.Repeat("a1", 18), "sk-" + strings.Repeat("b2", 20), "xoxb-" + "1234567890-abc",
		"glpat-" + strings.Repeat("c3", 10),
	},
	"privateKey": {
		"-----BEGIN " + "PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END " + "PRIVATE KEY-----",
		"-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA",
	},
}

// kernels are what must not be left of a secret that is more than a secret.
var kernels = map[string]string{
	"Bearer abcdefghij0123456789":                       "abcdefghij0123456789",
	"bearer:  QWxhZGRpbjpvcGVu1":                        "QWxhZGRpbjpvcGVu1",
	"DPoP abcdefgh1234":                                 "abcdefgh1234",
	"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==":                "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
	"https://alice:hunter2@db.example/x":                "hunter2",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA": "MIIEpAIBAAKCAQEA",
}

func kernel(secret string) string {
	if k, ok := kernels[secret]; ok {
		return k
	}
	return secret
}

func redactor(t testing.TB, c Config) *Redactor {
	t.Helper()
	r, err := New(c, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDetectors(t *testing.T) {
	t.Parallel()
	for name, examples := range secrets {
		alone := redactor(t, Config{Detectors: []string{name}})
		for _, secret := range examples {
			for _, r := range []*Redactor{alone, redactor(t, Config{})} {
				clean, n := r.Text("before " + secret)
				if strings.Contains(clean, kernel(secret)) || n != 1 || !strings.HasPrefix(clean, "before ") {
					t.Errorf("%s: of %q is left %q (%d)", name, secret, clean, n)
				}
			}
		}
	}
}

func TestInnocent(t *testing.T) {
	t.Parallel()
	r := redactor(t, Config{})
	for _, text := range []string{
		"", "@", "a@b", "meet me @ 5.30", "Bearer of bad news", "Basic information about us", "the bearer token is missing",
		"1732284000000", "1732284000000000", "4111111111111112", "order 1234567890123456", "2026-11-22 13:17:32",
		"tel. +49 30 901820", "01a2034f-f6e8-7186-bb00-22e4f765d202", "sk-short", "https://example.com:8443/a@b", "eyJ",
		"http://example.com/?q=a:b@c", "-----BEGIN PUBLIC KEY-----",
	} {
		if clean, n := r.Text(text); n != 0 || clean != text {
			t.Errorf("%q became %q (%d)", text, clean, n)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paths    []Place
		in, want string
		count    int
	}{
		"nothing to do":       {nil, ` {"a": [1, 2.50, true, null, "x"], "b": {}} `, `{"a":[1,2.50,true,null,"x"],"b":{}}`, 0},
		"large numbers":       {nil, `12345678901234567890123`, `12345678901234567890123`, 0},
		"a number is a card":  {nil, `{"n":4111111111111111}`, `{"n":"[card]"}`, 1},
		"escaped":             {nil, `"alice\u0040example.com"`, `"[email]"`, 1},
		"a name":              {nil, `{"alice@example.com":1}`, `{"[email]":1}`, 1},
		"removed":             {[]Place{{Path: "$.a"}}, `{"a":{"b":1},"c":2}`, `{"c":2}`, 1},
		"removed last":        {[]Place{{Path: "$.c"}}, `{"a":1,"c":2}`, `{"a":1}`, 1},
		"removed all":         {[]Place{{Path: "$.*"}}, `{"a":1,"c":2}`, `{}`, 2},
		"elements":            {[]Place{{Path: "$.a[1]"}}, `{"a":[1,2,3]}`, `{"a":[1,3]}`, 1},
		"masked":              {[]Place{{"$..text", "mask"}}, `{"p":[{"text":"x"},{"text":{"text":1}}]}`, `{"p":[{"text":"[masked]"},{"text":"[masked]"}]}`, 2},
		"hashed":              {[]Place{{"$['a b']", "hash"}}, `{"a b":"x"}`, `{"a b":"hmac:c1d65c9a2a1bf7ecf0d5a4a0a4aa6a3e"}`, 1},
		"the first decides":   {[]Place{{"$.a", "mask"}, {"$..a", "remove"}}, `{"a":1,"b":{"a":2}}`, `{"a":"[masked]","b":{}}`, 2},
		"an index, no name":   {[]Place{{Path: "$[0]"}}, `{"0":1}`, `{"0":1}`, 0},
		"a name, no index":    {[]Place{{Path: "$.0"}}, `[1]`, `[1]`, 0},
		"deep and index":      {[]Place{{Path: "$..[0].x"}}, `{"a":[{"x":1,"y":2},{"x":3}]}`, `{"a":[{"y":2},{"x":3}]}`, 1},
		"duplicate names too": {[]Place{{Path: "$.a"}}, `{"a":1,"a":2}`, `{}`, 2},
		"escaped name":        {[]Place{{Path: "$.secret"}}, `{"s\u0065cret":1}`, `{}`, 1},
	} {
		got, err := redactor(t, Config{Paths: c.paths}).JSON([]byte(c.in), 1<<20)
		if name == "hashed" && err == nil { // which digest it is says TestHash
			got.Text = []byte(strings.Replace(string(got.Text), string(got.Text[len(`{"a b":"hmac:`):len(got.Text)-2]), "c1d65c9a2a1bf7ecf0d5a4a0a4aa6a3e", 1))
		}
		if err != nil || string(got.Text) != c.want || got.Count != c.count || got.Cut {
			t.Errorf("%s: got %s, %d, %v, %v", name, got.Text, got.Count, got.Cut, err)
		}
	}
}

// TestHash makes sure that equal values have equal digests, and only with the same key.
func TestHash(t *testing.T) {
	t.Parallel()
	c := Config{Paths: []Place{{"$.*", "hash"}}}
	of := func(key, doc string) string {
		r, err := New(c, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.JSON([]byte(doc), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Text)
	}
	if of("k", `{"a":"x"}`) != of("k", `{"a": "x"}`) || of("k", `{"a":"x"}`) == of("k", `{"a":"y"}`) ||
		of("k", `{"a":"x"}`) == of("l", `{"a":"x"}`) || of("", `{"a":"x"}`) != `{"a":"[masked]"}` {
		t.Error("digests are not what they are for")
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	r := redactor(t, Config{})
	doc := []byte(`{"a":"ää","b":["alice@example.com","` + strings.Repeat("x", 1000) + `"]}`)
	for limit := range 200 {
		got, err := r.JSON(doc, limit)
		if err != nil || !got.Cut || len(got.Text) > limit || strings.Contains(string(got.Text), "alice") ||
			!strings.HasPrefix(`{"a":"ää","b":["[email]","`+strings.Repeat("x", 1000), string(got.Text)) {
			t.Fatalf("%d: %q, %v", limit, got.Text, err)
		}
	}
}

// TestNoJSON makes sure that nothing is kept, or said, of what cannot be read.
func TestNoJSON(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "alice@example.com", `{"a":`, `{"alice@example.com"`, `[1,]`, `1 alice`, `{"a" "alice"}`} {
		got, err := redactor(t, Config{}).JSON([]byte(doc), 1000)
		if err == nil || got.Text != nil || strings.Contains(err.Error(), "alice") {
			t.Errorf("%q: %q, %v", doc, got.Text, err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"paths[0].path":   {Paths: []Place{{Path: "a.b"}}},
		"paths[1].action": {Paths: []Place{{Path: "$.a"}, {Path: "$.b", Action: "burn"}}},
		"paths: 65":       {Paths: make([]Place, 65)},
		"detectors":       {Detectors: []string{"email", "none"}},
	} {
		if _, err := New(c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	r := redactor(t, Config{Detectors: []string{"none"}})
	if clean, n := r.Text("alice@example.com"); n != 0 || clean != "alice@example.com" {
		t.Errorf("none finds %q", clean)
	}
}

// TestPlanted makes sure that nothing of a secret is left, wherever in a document it is
// and whatever stands around it.
func TestPlanted(t *testing.T) {
	t.Parallel()
	r := redactor(t, Config{})
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"email", "card", "token", "key", "privateKey"}).Draw(t, "kind")
		secret := rapid.SampledFrom(secrets[kind]).Draw(t, "secret")
		around := rapid.StringOf(rapid.SampledFrom([]rune("aZ09 \n\"'(),;:/\\@.é-_=eyJ4")))
		edge := rapid.SampledFrom([]string{" ", "\n", "\"", "(", ";", "<", "\t"})
		text := around.Draw(t, "before") + edge.Draw(t, "left") + secret + edge.Draw(t, "right") + around.Draw(t, "after")
		doc, err := json.Marshal(nest(t, text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.JSON(doc, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(got.Text, &back); err != nil {
			t.Fatalf("%s: %v", got.Text, err)
		}
		if strings.Contains(fmt.Sprint(back), kernel(secret)) || got.Count == 0 {
			t.Fatalf("of %q is left %q", text, got.Text)
		}
	})
}

// nest puts a text somewhere into a document.
func nest(t *rapid.T, text string) any {
	var v any = text
	for range rapid.IntRange(0, 4).Draw(t, "depth") {
		switch rapid.IntRange(0, 2).Draw(t, "in") {
		case 0:
			v = []any{1, v}
		case 1:
			v = map[string]any{"a": v, "b": nil}
		default:
			v = map[string]any{text: v}
		}
	}
	return v
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":["alice@example.com",4111111111111111,{"b":"Bearer abc12345678"}]}`), 40)
	f.Add([]byte(`[[{"text":null}],"\ud800","://a:b@c"]`), 5)
	f.Add([]byte("{\"a\":\"\xff%40%40.\"}"), 1000)
	r := redactor(f, Config{Paths: []Place{{"$..text", "mask"}, {"$.a[*].b", "hash"}, {"$.c", "remove"}}})
	f.Fuzz(func(t *testing.T, doc []byte, limit int) {
		limit = min(max(limit, 0), 1<<20)
		got, err := r.JSON(doc, limit)
		switch {
		case err != nil && got.Text != nil, len(got.Text) > limit:
			t.Fatalf("%q, %v", got.Text, err)
		case err != nil || got.Cut:
			return
		case !json.Valid(got.Text):
			t.Fatalf("%q became %q, which is no JSON", doc, got.Text)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"$.a", "$..b[*].c", "$['x y'][3]", `$["q"]..*`, "$.", "$[", "$[99999999999]", "x"} {
		f.Add(seed, []byte(`{"a":{"b":[{"c":"1"}]}}`))
	}
	f.Fuzz(func(_ *testing.T, text string, doc []byte) {
		if p, err := ParsePath(text); err == nil {
			p.Find(doc, func(string) bool { return true })
		}
	})
}
