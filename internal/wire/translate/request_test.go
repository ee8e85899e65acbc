package translate

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// requestCase is one call and what becomes of it.
type requestCase struct {
	name string
	from exchange
	to   To
	edit func(*wire.Call) // what the proxy did to the ids
	line string           // want on HTTP+JSON: verb, path and query
	doc  string           // want: params on JSON-RPC, else the document; "" for no body
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for group, tests := range map[string][]requestCase{"send": sends, "task": tasks, "push": pushes} {
		for _, test := range tests {
			t.Run(group+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				test.run(t)
			})
		}
	}
}

func (test requestCase) run(t *testing.T) {
	t.Helper()
	c, q := decode(t, test.from)
	if test.edit != nil {
		test.edit(c)
	}
	test.to.ID = []byte(`"g-7"`)
	out, e := Request(c, q, test.to)
	if e != nil {
		t.Fatal(e)
	}
	line := out.Verb + " " + out.Path
	if out.Query != "" {
		line += "?" + out.Query
	}
	want := test.line
	switch test.to.Binding {
	case wire.JSONRPC:
		want = "POST "
	case wire.GRPC:
		want = "POST " + out.Call.Method.RPC(test.to.Version)
	}
	if line != want {
		t.Errorf("got %q, want %q", line, want)
	}
	doc := test.doc
	if strings.Contains(doc, "MINTED") { // another one each time: see TestMintedID
		doc = strings.ReplaceAll(doc, "MINTED", string(inside(lookup(lookup(out.Call.Params, "message"), "messageId"))))
	}
	equal(t, "document", doc, out.Call.Params)
	checkOutbound(t, c, test.to, out)
}

// checkOutbound holds what is true of every request.
func checkOutbound(t *testing.T, c *wire.Call, to To, out Outbound) {
	t.Helper()
	got := out.Call
	if got.Binding != to.Binding || got.Version != to.Version || got.TaskID != c.TaskID || got.ContextID != c.ContextID ||
		got.Streaming != got.Method.Streams || string(got.ID) != string(to.ID) || got.Tenant != to.Tenant {
		t.Errorf("the outgoing call is %+v", got)
	}
	switch to.Binding {
	case wire.JSONRPC:
		var again wire.Call
		if e := again.DecodeJSONRPC(out.Body, to.Version, wire.Limits{}); e != nil {
			t.Fatalf("%v: %s", e, out.Body)
		}
		sameCall(t, got, again)
	case wire.HTTPJSON:
		path := out.Path
		if to.Tenant != "" {
			path = path[strings.IndexByte(path[1:], '/')+1:]
		}
		route, ok := wire.ByRoute(out.Verb, path)
		var again wire.Call
		if !ok {
			t.Fatalf("no route %s %s", out.Verb, path)
		}
		q := query(t, out.Query)
		checkQuery(t, q)
		if e := again.DecodeHTTP(route, q, out.Body, "", wire.Limits{}); e != nil {
			t.Fatalf("%v: ?%s %s", e, out.Query, out.Body)
		}
		again.Tenant = to.Tenant
		sameCall(t, got, again)
	case wire.GRPC:
		var again wire.Call
		if e := again.DecodeGRPC(got.Method, to.Version, out.Body[5:], "", wire.Limits{}); e != nil {
			t.Fatalf("%v: %s", e, got.Body)
		}
		sameCall(t, got, again)
	}
}

// sameCall compares what an agent would understand with what we meant to say.
func sameCall(t *testing.T, meant, understood wire.Call) {
	t.Helper()
	for _, pair := range [][2]string{
		{meant.Method.Name, understood.Method.Name},
		{meant.TaskID, understood.TaskID},
		{meant.ContextID, understood.ContextID},
		{meant.Tenant, understood.Tenant},
	} {
		if pair[0] != pair[1] && (meant.Method.Subject != wire.OfTask || pair[0] != meant.ContextID) {
			t.Errorf("meant %q, an agent understands %q", pair[0], pair[1])
		}
	}
	if meant.Method.Subject == wire.OfConfig && meant.ConfigID != understood.ConfigID && meant.Version != wire.V01 && meant.Method.Name != listConfigs {
		t.Errorf("meant config %q, an agent understands %q", meant.ConfigID, understood.ConfigID)
	}
}
