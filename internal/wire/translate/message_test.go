package translate

import (
	"encoding/json"
	"slices"
	"testing"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
)

// send draws a send in the words of a side.
func (g generator) send(s wire.Side) exchange {
	message := g.message()
	params := obj{"message": message}
	maybe(g.T, params, "metadata", func() any { return metadata(g.T, 2) })
	modes := func() any { return []any{"text/plain", "image/*"} }
	switch g.d {
	case d01:
		params["id"] = word(g.T, "id")
		maybe(g.T, params, "acceptedOutputModes", modes)
	case p03:
		message["content"] = protoParts(message["parts"].([]any))
		delete(message, "parts")
		fallthrough
	default:
		configuration := obj{}
		maybe(g.T, configuration, "acceptedOutputModes", modes)
		maybe(g.T, params, "configuration", func() any { return configuration })
	}
	x := exchange{side: s, method: wire.SendMessage, doc: string(marshal(g.T, params))}
	if s.Binding == wire.HTTPJSON {
		x.line = map[wire.Version]string{wire.V10: "POST /message:send", wire.V03: "POST /v1/message:send"}[s.Version]
	}
	return x
}

// protoParts says parts as 0.3's proto does.
func protoParts(parts []any) []any {
	for _, one := range parts {
		p := one.(obj)
		if data, ok := p["data"]; ok {
			p["data"] = obj{"data": data}
		}
		if f, ok := p["file"].(obj); ok {
			for name, as := range map[string]string{"bytes": "fileWithBytes", "uri": "fileWithUri"} {
				if v, ok := f[name]; ok {
					delete(f, name)
					f[as] = v
				}
			}
		}
	}
	return parts
}

// comparableMessage is a message without what the way that it went cannot keep: protobuf
// writes data anew.
func comparableMessage(m *wire.Message, s wire.Side) *wire.Message {
	out := *m
	out.Parts = slices.Clone(m.Parts)
	for i := range out.Parts {
		if p := &out.Parts[i]; p.Kind == wire.PartData && s.Binding == wire.GRPC {
			p.Bytes = 0
		}
	}
	return &out
}

// sameMessage compares what is read of a call with what is read of its translation.
func sameMessage(t rapid.TB, c *wire.Call, to wire.Side) {
	t.Helper()
	before, e := message.Read(c)
	if e != nil {
		return // the judge says no; there is nothing to compare
	}
	out, e := Request(c, nil, To{Side: to, ID: []byte("1")})
	if e != nil {
		return // and so does the translation
	}
	again := wire.Call{Version: to.Version, Binding: to.Binding}
	switch to.Binding {
	case wire.GRPC:
		e = again.DecodeGRPC(out.Call.Method, to.Version, out.Call.Message, to.Version, lenient)
	case wire.JSONRPC:
		e = again.DecodeJSONRPC(out.Body, to.Version, lenient)
	default:
		route, _ := wire.ByRoute(out.Verb, out.Path)
		e = again.DecodeHTTP(route, nil, out.Body, to.Version, lenient)
	}
	if e != nil {
		t.Fatalf("%v: of %s became %s", e, c.Body, out.Call.Body)
	}
	after, e := message.Read(&again)
	if e != nil {
		t.Fatalf("%v: of %s became %s", e, c.Body, out.Call.Body)
	}
	before = comparableMessage(before, to)
	if c.Version == wire.V01 {
		before.OutputModes = nil // only samples had them
	}
	if before.ID == "" {
		after.ID = "" // is made up
	}
	before.ReferenceTaskIDs = after.ReferenceTaskIDs // 0.3's proto has none
	if diff := cmp.Diff(before, comparableMessage(after, to)); diff != "" {
		t.Fatalf("(-before +after)\n%s\nof %s became %s", diff, c.Body, out.Call.Body)
	}
}

// TestMessageOfTranslation: judges read the same of a call, whatever it came in.
func TestMessageOfTranslation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(sides()).Draw(t, "from")
		to := rapid.SampledFrom([]wire.Side{rpc10, http10, grpc10}).Draw(t, "to")
		g := generator{T: t, d: dialectOf(from), least: 1}
		c, _, e := tryDecode(g.send(from))
		if e != nil {
			t.Skip(e.Error())
		}
		if _, e := message.Read(c); e != nil {
			t.Fatalf("%v: %s", e, c.Body)
		}
		sameMessage(t, c, to)
	})
}

// FuzzReadMessage: nothing panics, and what is read of a call is what is read of it
// in 1.0.
func FuzzReadMessage(f *testing.F) {
	for _, test := range sends {
		if test.from.side.Binding != wire.HTTPJSON {
			f.Add(uint8(slices.Index(sides(), test.from.side)), test.from.doc)
		}
	}
	for i := range sides() {
		for _, part := range []string{
			`{"text":"a","kind":"text","metadata":{"a":[1,null]}}`, `{"kind":"file","file":{"bytes":"QUFFQ0F3PT0=","mimeType":"A/b;c"}}`,
			`{"file":{"fileWithBytes":"QUFFQ0F3PT0=","fileWithUri":""}}`, `{"raw":"_-8","filename":"f"}`, `{"url":"u"}`, `{"data":{"data":{}}}`,
			`{"data":{"value":1},"metadata":{"data_part_compat":true}}`, `{"data":null}`, `{"type":"text","text":""}`, `{}`,
		} {
			f.Add(uint8(i), `{"id":"t","message":{"role":"user","parts":[`+part+`]}}`)
			f.Add(uint8(i), `{"message":{"role":1,"content":[`+part+`]},"configuration":{"acceptedOutputModes":["*/*"]}}`)
		}
	}
	f.Fuzz(func(t *testing.T, from uint8, doc string) {
		side := sides()[int(from)%len(sides())]
		x := exchange{side: side, method: wire.SendMessage, doc: doc, line: "POST /message:send"}
		if side.Version == wire.V03 {
			x.line = "POST /v1/message:send"
		}
		c, _, e := tryDecode(x)
		if e != nil {
			t.Skip()
		}
		before := string(c.Body)
		for _, to := range []wire.Side{rpc10, http10} {
			sameMessage(t, c, to)
		}
		if string(c.Body) != before {
			t.Error("the body was changed")
		}
	})
}

// TestMessageOfSDK: what the SDKs write is read as it was meant.
func TestMessageOfSDK(t *testing.T) {
	t.Parallel()
	want := []wire.Part{
		{Kind: wire.PartText, Text: "hi", Bytes: 2},
		{Kind: wire.PartFile, Name: "f", MediaType: "image/png", Bytes: 3},
		{Kind: wire.PartFile, URL: "https://x.example/y", MediaType: "text/csv"},
		{Kind: wire.PartData, Data: map[string]any{"a": 1.0}, Bytes: 7},
	}
	now := a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser,
		a2a.NewTextPart("hi"), &a2a.Part{Content: a2a.Raw("\x00\x01\x02"), Filename: "f", MediaType: "image/png"},
		a2a.NewFileURLPart("https://x.example/y", "text/csv"), a2a.NewDataPart(map[string]any{"a": 1}))}
	then := legacy.MessageSendParams{Message: legacy.NewMessage(legacy.MessageRoleUser, legacy.TextPart{Text: "hi"},
		legacy.FilePart{File: legacy.FileBytes{Bytes: "AAEC", FileMeta: legacy.FileMeta{Name: "f", MimeType: "image/png"}}},
		legacy.FilePart{File: legacy.FileURI{URI: "https://x.example/y", FileMeta: legacy.FileMeta{MimeType: "text/csv"}}},
		legacy.DataPart{Data: map[string]any{"a": 1}})}
	for _, test := range []struct {
		side   wire.Side
		params any
	}{{rpc10, now}, {http10, now}, {grpc10, now}, {rpc03, then}} {
		doc, err := json.Marshal(test.params)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := decode(t, exchange{side: test.side, method: wire.SendMessage, doc: string(doc), line: "POST /message:send"})
		m, e := message.Read(c)
		if e != nil {
			t.Fatal(e)
		}
		if diff := cmp.Diff(want, m.Parts); diff != "" || m.ID == "" || m.Role != "ROLE_USER" {
			t.Errorf("%v: %+v (-want +got)\n%s", test.side, m, diff)
		}
	}
}
