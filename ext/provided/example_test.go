package provided_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// What follows up to the next test is the provider of docs/extensions/README.md.

const regionURI = "https://acme.example/extensions/region/v1"

// region is where this gateway and its agents run, such as "eu".
type region string

func (region) Declared() ext.Declared {
	return ext.Declared{URI: regionURI, Description: "Keeps a call in a region."}
}

// Request refuses a call that demands another region.
func (r region) Request(_ *ext.Facts, doc *wire.Carriers) error {
	for _, m := range doc.Marks {
		if m.Listed || m.Key != regionURI {
			continue
		}
		if value := doc.Doc[m.Value[0]:m.Value[1]]; string(value) != strconv.Quote(string(r)) {
			return wire.Errorf(wire.InvalidParams, "%s: this is region %s", doc.PointerTo(m), r)
		}
	}
	return nil
}

// Answer says the region in every message that is not history.
func (r region) Answer(_ *ext.Facts, doc *wire.Carriers) error {
	for i, c := range doc.List {
		if c.Place == wire.InMessage && !c.History {
			doc.Set(i, regionURI, []byte(strconv.Quote(string(r))))
			doc.Add(i, regionURI)
		}
	}
	return nil
}

func TestRegion(t *testing.T) {
	t.Parallel()
	var p ext.Provider = region("eu")
	for value, want := range map[string]string{
		`"eu"`: "",
		`"us"`: "/params/message/metadata/https:~1~1acme.example~1extensions~1region~1v1: this is region eu",
	} {
		doc := read(t, wire.SendMessage, false, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+
			`{"messageId":"m","role":"ROLE_USER","parts":[],"metadata":{"`+regionURI+`":`+value+`}}}}`)
		got := ""
		if err := p.Request(&ext.Facts{}, doc); err != nil {
			got = err.(*wire.Error).Text()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	doc := read(t, wire.SendMessage, true, result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`))
	if err := p.Answer(&ext.Facts{}, doc); err != nil {
		t.Fatal(err)
	}
	same(t, doc.Apply(), result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[],`+
		`"metadata":{"`+regionURI+`":"eu"},"extensions":["`+regionURI+`"]}}`))
}

// TestExampleIsTheDocuments makes sure that the document shows what is tested here.
func TestExampleIsTheDocuments(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if block := documented(t, "go"); !strings.Contains(string(source), block) {
		t.Errorf("docs/extensions/README.md shows another provider:\n%s", block)
	}
}

// documented is the first block of a language in docs/extensions/README.md.
func documented(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/extensions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || len(block) < 100 {
		t.Fatalf("docs/extensions/README.md has no block of %s", language)
	}
	return block
}
