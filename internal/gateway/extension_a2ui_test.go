package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// A2UI names its metadata without any URI, alike in every version, and sends lists as the data of parts.
const (
	a2uiURI      = "https://a2ui.org/a2a-extension/a2ui/v0.8"
	a2uiRegistry = `  - {uri: "https://a2ui.org/a2a-extension/a2ui/v0.9", metadata: [mimeType, a2uiClientCapabilities]}
  - uri: "` + a2uiURI + `"
    metadata: [mimeType, a2uiClientCapabilities]
    schemas:
      params: {type: object, required: [supportedCatalogIds]}
      metadata:
        mimeType: {enum: [application/a2ui+json, application/json+a2ui]}
        a2uiClientCapabilities: {type: object, required: [supportedCatalogIds]}
`
)

var (
	a2uiParams = map[string]any{
		"supportedCatalogIds": []any{"https://a2ui.org/standard.json"}, "acceptsInlineCatalogs": true,
	}
	a2uiCapabilities = map[string]any{"supportedCatalogIds": []any{"https://a2ui.org/standard.json"}}
	a2uiMark         = map[string]any{"mimeType": "application/a2ui+json"}
	surface          = []any{
		map[string]any{"beginRendering": map[string]any{"surfaceId": "main", "root": "r"}},
		map[string]any{"surfaceUpdate": map[string]any{"surfaceId": "main", "components": []any{}}},
	}
	clicked = []any{map[string]any{"userAction": map[string]any{"name": "book", "context": []any{1.0, nil}}}}
)

func a2uiPart(data any) *a2a.Part {
	p := a2a.NewDataPart(data)
	p.Metadata = map[string]any{"mimeType": "application/a2ui+json"}
	return p
}

// lists reports whether the Go SDK has a part whose data is a list, in the words of the
// flavour. To its gRPC of 1.0 data is an object, and its HTTP+JSON of 0.3 does not know
// what its other bindings of 0.3 make of a list.
func lists(f gatewaytest.Flavour) bool { return f.Name != "go10-grpc" && f.Name != "compat03-rest" }

// renders answers with a surface, and what it heard before it. It says as an object
// what it was sent as one.
func renders(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	got := ec.Message.Parts[1]
	heard, _ := json.Marshal([]any{ec.Message.Metadata, got.Metadata, got.Data()})
	m, drawn := reply(ec, string(heard), a2uiURI, nil), any(surface)
	if _, ok := got.Data().(map[string]any); ok {
		drawn = map[string]any{"surface": surface}
	}
	m.Parts = append(m.Parts, a2uiPart(drawn))
	return []a2a.Event{m}
}

// A surface comes through between any two versions, with what says that it is one only
// if the client has A2UI.
func TestExtensionA2UI(t *testing.T) {
	t.Parallel()
	f := newFair(t, stall{
		registry: a2uiRegistry, section: "allow: []", act: renders,
		declared: []a2a.AgentExtension{{URI: a2uiURI, Params: a2uiParams}},
	})
	converse := func(m *meeting, capabilities map[string]any, mark map[string]any) {
		sent, want := any(clicked), any(surface)
		if !lists(m.caller) || !lists(m.agent.Flavour) {
			sent, want = map[string]any{"clicked": clicked}, map[string]any{"surface": surface}
		}
		said := utter("book", "", map[string]any{"a2uiClientCapabilities": a2uiCapabilities})
		said.Parts = append(said.Parts, a2uiPart(sent))
		answer := m.messageOf(m.send(said))
		var heard []any
		if err := json.Unmarshal([]byte(word(answer)), &heard); err != nil {
			m.Fatal(err)
		}
		drawn := answer.Parts[1]
		m.has("heard of the client", heard[0], capabilities)
		m.has("heard of the part", heard[1], mark)
		m.has("metadata of the surface", drawn.Metadata, mark)
		m.same("heard", heard[2], sent)
		m.same("surface", drawn.Data(), want)
	}
	f.meet(t, []string{a2uiURI}, nil, func(m *meeting) {
		m.same("params", m.listed(a2uiURI).Params, a2uiParams)
		converse(m, map[string]any{"a2uiClientCapabilities": a2uiCapabilities}, a2uiMark)
		m.activated(a2uiURI)
		_, err := m.client.SendMessage(m.Context(), &a2a.SendMessageRequest{
			Message: utter("book", "", map[string]any{"a2uiClientCapabilities": "secret"}),
		})
		m.refusedFor(err, "a2uiClientCapabilities")
	})
	f.meet(t, nil, nil, func(m *meeting) {
		converse(m, nil, nil)
		m.activated()
	})
}

// has compares metadata; none is as good as an empty object.
func (m *meeting) has(what string, got any, want map[string]any) {
	m.Helper()
	object, _ := got.(map[string]any)
	if len(object)+len(want) > 0 {
		m.same(what, object, want)
	}
}

// refusedFor makes sure that an error is that of parameters, in the words of the SDK,
// and tells the member and not its value.
func (m *meeting) refusedFor(err error, member string) {
	m.Helper()
	want := a2a.ErrInvalidParams
	if m.sdk == gatewaytest.Go03 {
		want = a2a03.ErrInvalidParams
	}
	m.errs(err, want)
	if err != nil && (!strings.Contains(err.Error(), member) || strings.Contains(err.Error(), "secret")) {
		m.Errorf("error %v, want one about %s", err, member)
	}
}

// In 0.3 the data of a part is an object, but for A2UI, which sends lists all the same.
func TestExtensionA2UIListsIn03(t *testing.T) {
	t.Parallel()
	const part = `{"kind":"data","data":[{"beginRendering":{"surfaceId":"main"}}],"metadata":{"mimeType":"application/a2ui+json"}}`
	list := []any{map[string]any{"beginRendering": map[string]any{"surfaceId": "main"}}}
	old := gatewaytest.NewRecorder(t, "0.3", gatewaytest.Result(
		`{"kind":"message","messageId":"m","role":"agent","parts":[`+part+`],"extensions":["`+a2uiURI+`"]}`))
	heard := make(chan any, 1)
	now := gatewaytest.StartWith(t, gatewaytest.Flavours()[1], []a2a.AgentExtension{{URI: a2uiURI}},
		func(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
			heard <- []any{ec.Message.Parts[0].Data(), ec.Message.Parts[0].Metadata}
			m := reply(ec, "drawn", a2uiURI, nil)
			m.Parts = a2a.ContentParts{a2uiPart(list)}
			return []a2a.Event{m}
		})
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy+"extensions:\n"+a2uiRegistry+fmt.Sprintf(`agents:
  - {id: old, card: %s, extensions: {require: [%q], activation: declared}}
  - {id: now, card: %s, extensions: {activation: declared}}
`, everyBinding(old.CardURL), a2uiURI, everyBinding(now.CardURL))))
	credential := w.token("caller")

	hc := gatewaytest.HTTPClient(t, credential, nil)
	client, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, g.URL()+"/agents/old", "1.0", a2a.TransportProtocolJSONRPC, a2uiURI)
	m := &meeting{T: t, client: client, hc: hc}
	drawn := m.messageOf(m.send(utter("draw", "", nil))).Parts[0]
	m.same("surface", drawn.Data(), any(list))
	m.same("metadata", drawn.Metadata, a2uiMark)

	web := gatewaytest.HTTPClient(t, nil, nil)
	header := http.Header{"Content-Type": {"application/json"}, ext.HeaderV03: {a2uiURI}}
	header["Authorization"] = credential["Authorization"]
	for agent, want := range map[string]string{
		"old": part, // untouched; of a list from 1.0 the SDKs of 0.3 make an object
		"now": `"data":{"value":[{"beginRendering":{"surfaceId":"main"}}]},` +
			`"metadata":{"mimeType":"application/a2ui+json","data_part_compat":true}`,
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"` + agent +
			`","role":"user","parts":[` + part + `]}}}`
		status, answer, err := try(web, http.MethodPost, g.URL()+"/agents/"+agent, header, body)
		if err != nil || status != http.StatusOK || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, %v", agent, status, answer, err)
		}
	}
	m.same("heard", <-heard, any([]any{list, a2uiMark}))
	seen := old.Requests()
	if last := string(seen[len(seen)-1].Body); !strings.Contains(last, part) {
		t.Errorf("the agent of 0.3 was sent %s", last)
	}
}
