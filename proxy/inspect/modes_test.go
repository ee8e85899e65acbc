package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// moded is an agent whose calls are held to its modes.
func moded(mode ext.Mode) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) { s.Agent.Modes = mode }
}

// image is a further part, in the words of a side.
func image(s wire.Side) string {
	switch {
	case s.Version == wire.V10:
		return `},{"raw":"AAEC","mediaType":"image/png"`
	case s.Binding == wire.JSONRPC:
		return `},{"kind":"file","file":{"bytes":"AAEC","mimeType":"image/png"}`
	}
	return `},{"file":{"fileWithBytes":"QUFFQw==","mimeType":"image/png"}`
}

// TestModesOnEverySide: what an agent does not take never reaches it, and says why in
// the words of the caller's version.
func TestModesOnEverySide(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardWithModes(`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/html"]`, `"a"`), moded(ext.Enforce), proxytest.WithTied)
	for _, s := range proxytest.Sides {
		kind := wire.ContentType
		if s == proxytest.GRPC03 { // has no words for it
			kind = wire.InvalidParams
		}
		for _, more := range []string{"", accepting(s, "text/*")} {
			if got := w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s), More: more}); got.Err != nil {
				t.Errorf("%v: text is refused: %v", s, got.Err)
			}
			w.Agent.One(t)
		}
		got := w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s), InPart: image(s)})
		if got.Err == nil || got.Err.Kind != kind || !strings.Contains(got.Err.Message, `"image/png" is not taken`) {
			t.Errorf("%v: an image: %+v %s", s, got.Err, got.Body)
		}
		got = w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.NewTaskID(s), More: accepting(s, "text/plain")})
		if got.Err == nil || got.Err.Kind != kind || !strings.Contains(got.Err.Message, "none of the accepted") {
			t.Errorf("%v: plain text wanted: %+v %s", s, got.Err, got.Body)
		}
		w.Agent.Silent(t, fmt.Sprint(s))
		if got := w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.GetTask, Task: "nobody's"}); got.Err == nil || got.Err.Kind != wire.TaskNotFound {
			t.Errorf("%v: a call without a message: %+v", s, got.Err)
		}
	}
}

// accepting are the members of a send that accepts one media type.
func accepting(s wire.Side, mode string) string {
	if s == proxytest.RPC01 {
		return `,"acceptedOutputModes":["` + mode + `"]`
	}
	return `,"configuration":{"acceptedOutputModes":["` + mode + `"]}`
}

// TestModesLists: which list counts, and what its words mean.
func TestModesLists(t *testing.T) {
	t.Parallel()
	const image, text, data = `{"url":"https://x.example/y","mediaType":"IMAGE/PNG; q=1"}`, `{"text":"t"}`, `{"data":{}}`
	const blob, odd, csv = `{"raw":"AA=="}`, `{"audio":1}`, `{"text":"a,b","mediaType":"text/csv"}`
	const skilled = `"defaultInputModes":["text/plain"]`
	for _, tt := range []struct {
		top    string
		skills []string
		skill  string // declared by the path
		parts  string
		want   string // of the refusal; "" for none
	}{
		{`"defaultInputModes":["image/*"]`, nil, "", image, ""},
		{`"defaultInputModes":["image/*"]`, nil, "", image + "," + text, `"text/plain" is not taken`},
		{`"defaultInputModes":["*/*"]`, nil, "", image + "," + text + "," + data + "," + blob + "," + odd, ""},
		{`"defaultInputModes":["*"]`, nil, "", blob, ""},
		{`"defaultInputModes":["Text/Plain; charset=utf-8"]`, nil, "", text, ""},
		{`"defaultInputModes":["text/plain"]`, nil, "", csv, `"text/csv" is not taken`},
		{`"defaultInputModes":["text"]`, nil, "", text + "," + csv, ""},
		{`"defaultInputModes":["text"]`, nil, "", data, `"application/json" is not taken`},
		{`"defaultInputModes":["data"]`, nil, "", data, ""},
		{`"defaultInputModes":["file"]`, nil, "", image + "," + blob, ""},
		{`"defaultInputModes":["file"]`, nil, "", text, `"text/plain" is not taken`},
		{`"defaultInputModes":["image"]`, nil, "", image, ""},
		{`"defaultInputModes":["application/json"]`, nil, "", blob, `"application/octet-stream" is not taken`},
		{`"defaultInputModes":["text/plain"]`, nil, "", odd, `"application/octet-stream" is not taken`},
		{`"x":1`, nil, "", text, ""}, // 0.1's default
		{`"x":1`, nil, "", image, `"image/png" is not taken`},
		{skilled, []string{`"a","inputModes":["image/*"]`, `"b"`}, "a", image, ""},
		{skilled, []string{`"a","inputModes":["image/*"]`, `"b"`}, "a", text, `"text/plain" is not taken`},
		{skilled, []string{`"a","inputModes":["image/*"]`, `"b"`}, "b", image, `"image/png" is not taken`},
		{skilled, []string{`"a","inputModes":["image/*"]`, `"b"`}, "", image + "," + text, ""}, // of either
		{skilled, []string{`"a","inputModes":["image/*"]`, `"b"`}, "", data, `"application/json" is not taken`},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardWithModes(tt.top, tt.skills...), moded(ext.Enforce))
		path := ""
		if tt.skill != "" {
			path = "/skills/" + tt.skill
		}
		body := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + tt.parts + `]}}`
		got := w.Do("alice", "POST", path+"/message:send", body, "A2A-Version: 1.0")
		refused := got.Status == 400 && strings.Contains(got.Body, "CONTENT_TYPE_NOT_SUPPORTED")
		if refused != (tt.want != "") || !strings.Contains(strings.ReplaceAll(got.Body, `\"`, `"`), tt.want) {
			t.Errorf("%s %v %s %s: %d %s", tt.top, tt.skills, tt.skill, tt.parts, got.Status, got.Body)
		}
		if seen := len(w.Agent.Take()); (seen == 0) != refused {
			t.Errorf("%s %s: the agent saw %d requests", tt.top, tt.parts, seen)
		}
	}
}

// TestModesReported: a call is recorded, and goes on, also when it cannot be judged.
func TestModesReported(t *testing.T) {
	t.Parallel()
	const twoWays = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","data":{}}]}}`
	for mode, status := range map[ext.Mode]int{ext.Off: 200, ext.Report: 200, ext.Enforce: 400, "": 200} {
		w := proxytest.NewGatewayFor(t, proxytest.CardWithModes(`"defaultInputModes":["image/*"],"defaultOutputModes":["a/b"]`, `"a"`), moded(mode))
		for _, body := range []string{proxytest.Message(""), twoWays} {
			if got := w.Do("alice", "POST", "/message:send", body, "A2A-Version: 1.0"); got.Status != status {
				t.Errorf("%s: %d %s", mode, got.Status, got.Body)
			}
		}
		if seen := len(w.Agent.Take()); seen != map[int]int{200: 2, 400: 0}[status] {
			t.Errorf("%s: the agent saw %d requests", mode, seen)
		}
		var notes []any
		for _, record := range w.Audited("call") {
			if list, ok := record["violations"].([]any); ok {
				notes = append(notes, list...)
			}
		}
		if want := map[ext.Mode]int{ext.Report: 2, ext.Enforce: 1}[mode]; len(notes) != want || strings.Count(fmt.Sprint(notes), "fault:modes") != want {
			t.Errorf("%s: %d of %d are recorded: %v", mode, len(notes), want, notes)
		}
	}
}

func TestModesAreWords(t *testing.T) {
	t.Parallel()
	c := agents.Config{ID: "a", Modes: "on"}
	c.Card.URL = "https://a.example/card"
	if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), `modes: "on"`) {
		t.Error(err)
	}
}
