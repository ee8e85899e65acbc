package ext_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// fleet is a registry of a hundred, of which an agent declares ten. The first of each
// ten needs the second.
func fleet(tb testing.TB) (*ext.Book, []ext.Declared, ext.Set) {
	tb.Helper()
	var (
		r        ext.Registry
		declared []ext.Declared
		uris     ext.Set
	)
	for i := range 100 {
		e := ext.Entry{URI: fmt.Sprintf("https://extensions.example.com/%02d/v1", i)}
		if i%10 == 0 {
			e.Dependencies.Required = []string{fmt.Sprintf("https://extensions.example.com/%02d/v1", i+1)}
		}
		r = append(r, e)
		if i < 10 {
			declared = append(declared, ext.Declared{URI: e.URI})
			uris = append(uris, e.URI)
		}
	}
	return compiled(tb, r), declared, uris
}

func BenchmarkNegotiate(b *testing.B) {
	book, declared, uris := fleet(b)
	for _, bb := range []struct {
		name string
		q    ext.Question
	}{
		{"nothing", ext.Question{Declared: declared}},
		{"three", ext.Question{Requested: ext.Set{uris[0], uris[1], uris[9]}, Declared: declared}},
		{"three, all of it", ext.Question{
			Requested: ext.Set{uris[0], uris[1], uris[9]}, Declared: declared,
			Config: &ext.Config{Require: uris[1:2], Inject: uris[5:6], Allow: uris, Provide: []string{"urn:p"}},
			Rules:  []ext.Effect{{Allow: uris}, {Require: uris[9:10]}},
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := book.Negotiate(&bb.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEffective(b *testing.B) {
	book, declared, _ := fleet(b)
	b.ReportAllocs()
	for b.Loop() {
		book.Effective(&ext.Question{Declared: declared})
	}
}

func BenchmarkOwner(b *testing.B) {
	book, _, uris := fleet(b)
	key := uris[3] + "/name"
	b.ReportAllocs()
	for b.Loop() {
		if book.Owner(key) == "" {
			b.Fatal("nobody's")
		}
	}
}

// TestNothingAskedCostsNothing: most calls have no extensions, and must not pay for
// those that do.
func TestNothingAskedCostsNothing(t *testing.T) {
	book, declared, uris := fleet(t)
	for _, q := range []*ext.Question{
		{Declared: declared},
		{Declared: declared, Config: &ext.Config{Allow: uris, Deny: []string{"urn:x"}, Provide: []string{"urn:p"}}},
		{Declared: declared, Rules: []ext.Effect{{Rule: "r", Allow: uris, Deny: []string{"urn:x"}}}},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := book.Negotiate(q); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
