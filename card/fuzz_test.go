package card_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// FuzzParse: whatever is accepted can be served in every form, as valid JSON
// that reads as a card again and fits its Protobuf message where it has one,
// with the gateway's interfaces and none of the agent's addresses.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Add([]byte(`{"name":"n","x":{"y":["http://secret.agent.test/",{"URL":1}]}}`))
	f.Add([]byte(`{"name":"n","[a.b]":1,"capabilities":{"extensions":[{"uri":"urn:a","params":{"x":1e999}},
		{"uri":"urn:b","params":"x"}]},"skills":[{"id":"s","[a.b]":{}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := card.Parse(raw)
		if err != nil {
			return
		}
		for _, form := range forms {
			v := form.view(c)
			v.Hidden = []string{"https://secret.agent.test:8443"}
			body, etag, err := c.Render(v)
			if err != nil {
				t.Fatal(err)
			}
			if !jsontext.Value(body).IsValid() || len(etag) < 3 {
				t.Fatalf("invalid output %q, tag %s", body, etag)
			}
			if bytes.Contains(bytes.ToLower(unescape(body)), []byte("secret.agent.test")) && !inURI(c) {
				t.Fatalf("hidden address served: %s", body)
			}
			if form.side.Binding == wire.GRPC {
				message(t, form.side.Version, body)
			}
			served, err := card.Parse(body)
			if err != nil {
				t.Fatalf("not a card: %v: %s", err, body)
			}
			for _, i := range served.Interfaces {
				if i.URL != base {
					t.Fatalf("interface %+v in %s", i, body)
				}
			}
		}
	})
}

// unescape resolves escapes the cheap way: by printing canonically.
func unescape(body []byte) []byte {
	v := jsontext.Value(bytes.Clone(body))
	if err := v.Canonicalize(); err != nil {
		return body
	}
	return v
}

// inURI: extension URIs are identifiers and pass as they are; so do the tenants
// that clients must send back.
func inURI(c *card.Card) bool {
	for _, e := range c.Extensions {
		if strings.Contains(strings.ToLower(e.URI), "secret.agent.test") {
			return true
		}
	}
	for _, i := range c.Interfaces {
		if strings.Contains(strings.ToLower(i.Tenant), "secret.agent.test") {
			return true
		}
	}
	return false
}

func BenchmarkRender(b *testing.B) {
	a, err := txtar.ParseFile("testdata/v03.txtar")
	if err != nil {
		b.Fatal(err)
	}
	c, err := card.Parse(a.Files[0].Data)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("remembered", func(b *testing.B) {
		v := view(c, wire.V03)
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := c.Render(v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse and render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fresh, err := card.Parse(a.Files[0].Data)
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := fresh.Render(view(fresh, wire.V03)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
