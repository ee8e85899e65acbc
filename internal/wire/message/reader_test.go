package message

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// rpc wraps params in an envelope.
func rpc(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

// sending is a call with a message in the words of one side.
type sending struct {
	side wire.Side
	doc  string // the params, or the body
}

// decode reads it as the proxy does.
func (s sending) decode(t testing.TB) *wire.Call {
	t.Helper()
	c, e := s.try()
	if e != nil {
		t.Fatalf("the call of the test is none: %v: %s", e, s.doc)
	}
	return c
}

func (s sending) try() (*wire.Call, *wire.Error) {
	m, _ := wire.ByName(wire.V10, wire.SendMessage)
	c := new(wire.Call)
	switch s.side.Binding {
	case wire.JSONRPC:
		name := map[wire.Version]string{wire.V01: m.V01, wire.V03: m.V03, wire.V10: m.Name}[s.side.Version]
		return c, c.DecodeJSONRPC([]byte(rpc(name, s.doc)), "", wire.Limits{})
	case wire.HTTPJSON:
		path := map[wire.Version]string{wire.V03: "/v1/message:send", wire.V10: "/message:send"}[s.side.Version]
		route, _ := wire.ByRoute("POST", path)
		return c, c.DecodeHTTP(route, nil, []byte(s.doc), "", wire.Limits{})
	}
	message, err := wire.RequestMessage(m, s.side.Version, []byte(s.doc))
	if err != nil {
		return nil, wire.Errorf(wire.InvalidRequest, "").Because(err)
	}
	return c, c.DecodeGRPC(m, s.side.Version, message, "", wire.Limits{})
}

// read reads the message as those do who judge it.
func (s sending) read(t testing.TB) (*wire.Message, *wire.Error) {
	t.Helper()
	return Read(s.decode(t))
}

// inVersions is one message in every version and binding.
func inVersions() map[string]sending {
	const old = `"taskId":"T","contextId":"C","messageId":"M","extensions":["urn:x"],"metadata":{"a":[1,"é",{"b":null}]}`
	const kinds = `[{"KIND":"text","text":"hé\"llo","metadata":{"k":true}},
		{"KIND":"file","file":{"name":"f.pdf","mimeType":"Application/PDF; q=1","bytes":"AAECAw=="}},
		{"KIND":"file","file":{"name":"g","mimeType":"image/png","uri":"https://files.example/g.png"}},
		{"KIND":"data","data":{"n":1.5}},{"KIND":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true}}]`
	const proto03 = `[{"text":"hé\"llo","metadata":{"k":true}},
		{"file":{"name":"f.pdf","mimeType":"Application/PDF; q=1","fileWithBytes":"QUFFQ0F3PT0="}},
		{"file":{"name":"g","mimeType":"image/png","fileWithUri":"https://files.example/g.png"}},
		{"data":{"data":{"n":1.5}}},{"data":{"data":{"value":[1,2]}},"metadata":{"data_part_compat":true}}]`
	const parts10 = `[{"text":"hé\"llo","metadata":{"k":true}},
		{"raw":"AAECAw","filename":"f.pdf","mediaType":"Application/PDF; q=1"},
		{"url":"https://files.example/g.png","filename":"g","mediaType":"image/png"},
		{"data":{"n":1.5}},{"data":[1,2]}]`
	const settings = `,"configuration":{"acceptedOutputModes":["text/plain","image/*"]},"metadata":{"p":1}}`
	in10 := `{"message":{` + old + `,"role":"ROLE_USER","parts":` + parts10 + `}` + settings
	in03 := `{"message":{"kind":"message",` + old + `,"role":"user","parts":` + strings.ReplaceAll(kinds, "KIND", "kind") + `}` + settings
	rest03 := `{"message":{` + old + `,"role":"ROLE_USER","content":` + proto03 + `}` + settings
	// As the Python SDK's client writes it.
	snake := strings.NewReplacer("taskId", "task_id", "contextId", "context_id", "messageId", "message_id", `"message":`, `"request":`,
		"mimeType", "mime_type", "fileWith", "file_with_", "file_with_B", "file_with_b", "file_with_U", "file_with_u",
		"acceptedOutputModes", "accepted_output_modes", `"ROLE_USER"`, `1`)
	snaked := strings.NewReplacer("file_with_Bytes", "file_with_bytes", "file_with_Uri", "file_with_uri").Replace(snake.Replace(rest03))
	in01 := `{"id":"T","sessionId":"C","acceptedOutputModes":["text/plain","image/*"],"message":{"role":"user",` +
		`"metadata":{"a":[1,"é",{"b":null}]},"parts":` + strings.ReplaceAll(kinds, "KIND", "type") + `},"metadata":{"p":1}}`
	return map[string]sending{
		"0.1 JSON-RPC": {wire.Side{Version: wire.V01, Binding: wire.JSONRPC}, in01}, "0.3 JSON-RPC": {wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, in03},
		"0.3 HTTP+JSON": {wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}, rest03}, "0.3 snake case": {wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}, snaked},
		"0.3 gRPC": {wire.Side{Version: wire.V03, Binding: wire.GRPC}, rest03}, "1.0 JSON-RPC": {wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, in10},
		"1.0 HTTP+JSON": {wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, in10}, "1.0 gRPC": {wire.Side{Version: wire.V10, Binding: wire.GRPC}, in10},
	}
}

// TestReadMessage: whatever a message came in, it reads the same.
func TestReadMessage(t *testing.T) {
	t.Parallel()
	for name, s := range inVersions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &wire.Message{
				ID: "M", TaskID: "T", ContextID: "C", Role: "ROLE_USER", Extensions: []string{"urn:x"},
				Metadata:     map[string]any{"a": []any{1.0, "é", map[string]any{"b": nil}}},
				CallMetadata: map[string]any{"p": 1.0}, OutputModes: []string{"text/plain", "image/*"},
				Parts: []wire.Part{
					{Kind: wire.PartText, Text: `hé"llo`, Bytes: 7, Metadata: map[string]any{"k": true}},
					{Kind: wire.PartFile, Name: "f.pdf", MediaType: "application/pdf", Bytes: 4},
					{Kind: wire.PartFile, Name: "g", MediaType: "image/png", URL: "https://files.example/g.png"},
					{Kind: wire.PartData, Data: map[string]any{"n": 1.5}, Bytes: int64(len(`{"n":1.5}`))},
					{Kind: wire.PartData, Data: []any{1.0, 2.0}, Bytes: int64(len(`[1,2]`))},
				},
			}
			if s.side.Version == wire.V01 {
				want.ID, want.Extensions = "", nil
			}
			c := s.decode(t)
			got, e := Read(c)
			if e != nil {
				t.Fatal(e)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			clear(c.Body) // nothing points into it
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the message changed with the body:\n%s", diff)
			}
		})
	}
}

func TestReadMessageNone(t *testing.T) {
	t.Parallel()
	var c wire.Call
	if e := c.DecodeJSONRPC([]byte(rpc("GetTask", `{"id":"t"}`)), "", wire.Limits{}); e != nil {
		t.Fatal(e)
	}
	if m, e := Read(&c); m != nil || e != nil {
		t.Errorf("GetTask has message %+v, error %v", m, e)
	}
	if m, e := Read(new(wire.Call)); m != nil || e != nil {
		t.Errorf("no call has message %+v, error %v", m, e)
	}
}

// TestReadMessageOfExtension: methods of extensions that are about a message bring one.
func TestReadMessageOfExtension(t *testing.T) {
	t.Parallel()
	extra, err := wire.NewExtra([]wire.Method{{
		Name: "acme/ask", Subject: wire.OfMessage, Extension: "urn:acme", Verbs: []string{"POST"}, Path: "/acme:ask",
	}})
	if err != nil {
		t.Fatal(err)
	}
	const doc = `{"message":{"messageId":"M","parts":[{"text":"hi"}]},"more":1}`
	c := wire.Call{Extra: extra}
	if e := c.DecodeJSONRPC([]byte(rpc("acme/ask", doc)), wire.V10, wire.Limits{}); e != nil {
		t.Fatal(e)
	}
	want := &wire.Message{ID: "M", Parts: []wire.Part{{Kind: wire.PartText, Text: "hi", Bytes: 2}}}
	got, e := Read(&c)
	if diff := cmp.Diff(want, got); diff != "" || e != nil {
		t.Errorf("%v %s", e, diff)
	}
}
