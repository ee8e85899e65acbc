package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// The extensions of these tests. The registry knows the first three; the card of the
// agent declares the first and the last.
const (
	pay      = "https://example.com/ext/pay/v1"
	stamp    = "https://example.com/ext/stamp/v1"
	stampPro = "https://example.com/ext/stamp/v1/pro"
	local    = "https://agent.example/ext/local"
)

// registry is compiled anew for each test that changes it.
func registry() ext.Registry {
	return ext.Registry{
		{URI: pay, Metadata: []string{"pay.status", "pay.receipt.*", "https://example.com/listed"}},
		{URI: stamp},
		{URI: stampPro},
	}
}

func compile(t testing.TB, r ext.Registry) *ext.Book {
	t.Helper()
	b, err := r.Compile()
	if err != nil {
		t.Fatalf("compile the registry: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// card is what the agent declares.
var card = ext.NewRoots([]ext.Declared{{URI: pay}, {URI: local}})

// source is a schema as it stands in the configuration.
func source(text string) schema.Source { return schema.Source{Inline: []byte(text)} }

var (
	rpc10  = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	rpc03  = wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	rpc01  = wire.Side{Version: wire.V01, Binding: wire.JSONRPC}
	grpc03 = wire.Side{Version: wire.V03, Binding: wire.GRPC}
	rest10 = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
)

// document is one to be read.
type document struct {
	side   wire.Side
	method string // 1.0 name; empty for SendMessage
	answer bool
	text   string
}

// params and result put what JSON-RPC is about into its envelope.
func params(text string) document {
	return document{side: rpc10, text: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + text + `}`}
}

func result(text string) document {
	return document{side: rpc10, answer: true, text: `{"jsonrpc":"2.0","id":1,"result":` + text + `}`}
}

func read(t testing.TB, d document) *wire.Carriers {
	t.Helper()
	if d.method == "" {
		d.method = wire.SendMessage
	}
	m, ok := wire.ByName(wire.V10, d.method)
	if !ok {
		t.Fatalf("%s is no method", d.method)
	}
	c, err := wire.ReadCarriers(d.side, m, d.answer, []byte(d.text), wire.Limits{})
	if err != nil {
		t.Fatalf("read %s: %v", d.text, err)
	}
	return c
}

// lines are violations as the tests compare them.
func lines(list []content.Violation) string {
	var b strings.Builder
	for _, v := range list {
		verb := "report"
		if v.Enforced {
			verb = "refuse"
		}
		fmt.Fprintln(&b, verb, v.Fault, v.Extension, v.Pointer)
	}
	return b.String()
}

// shown are marks as the tests compare them.
func shown(c *wire.Carriers, marks []wire.Mark) string {
	var b strings.Builder
	for _, m := range marks {
		fmt.Fprintln(&b, c.PointerTo(m))
	}
	return b.String()
}

// text undoes the indentation of a raw literal in a table.
func text(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
