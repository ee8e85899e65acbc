package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// picky is a card with these modes; skills are what follows a skill's id.
func picky(top string, skills ...string) func(string) string {
	return func(base string) string {
		list := make([]string, 0, len(skills))
		for _, s := range skills {
			list = append(list, `{"name":"s","description":"d","tags":[],"id":`+s+`}`)
		}
		before, _, _ := strings.Cut(cardOf(base), `"defaultInputModes"`)
		return before + top + `,"skills":[` + strings.Join(list, ",") + `]}`
	}
}

// moded is an agent whose calls are held to its modes.
func moded(mode ext.Mode) func(*setup) {
	return func(s *setup) { s.agent.Modes = mode }
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
	w := in(t, picky(`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/html"]`, `"a"`), moded(ext.Enforce), tied)
	for _, s := range sides {
		kind := wire.ContentType
		if s == grpc03 { // has no words for it
			kind = wire.InvalidParams
		}
		for _, more := range []string{"", accepting(s, "text/*")} {
			if got := w.speak("tied", w.base, s, ask{method: wire.SendMessage, task: taskFor(s), more: more}); got.err != nil {
				t.Errorf("%v: text is refused: %v", s, got.err)
			}
			w.agent.one(t)
		}
		got := w.speak("tied", w.base, s, ask{method: wire.SendMessage, task: taskFor(s), inPart: image(s)})
		if got.err == nil || got.err.Kind != kind || !strings.Contains(got.err.Message, `"image/png" is not taken`) {
			t.Errorf("%v: an image: %+v %s", s, got.err, got.body)
		}
		got = w.speak("tied", w.base, s, ask{method: wire.SendStreamingMessage, task: taskFor(s), more: accepting(s, "text/plain")})
		if got.err == nil || got.err.Kind != kind || !strings.Contains(got.err.Message, "none of the accepted") {
			t.Errorf("%v: plain text wanted: %+v %s", s, got.err, got.body)
		}
		w.agent.silent(t, fmt.Sprint(s))
		if got := w.speak("tied", w.base, s, ask{method: wire.GetTask, task: "nobody's"}); got.err == nil || got.err.Kind != wire.TaskNotFound {
			t.Errorf("%v: a call without a message: %+v", s, got.err)
		}
	}
}

// accepting are the members of a send that accepts one media type.
func accepting(s wire.Side, mode string) string {
	if s == rpc01 {
		return `,"acceptedOutputModes":["` + mode + `"]`
	}
	return `,"configuration":{"acceptedOutputModes":["` + mode + `"]}`
}

// taskFor is a new task, which 0.1's callers have to name.
func taskFor(s wire.Side) string {
	if s == rpc01 {
		return uuid.NewString()
	}
	return ""
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
		w := in(t, picky(tt.top, tt.skills...), moded(ext.Enforce))
		path := ""
		if tt.skill != "" {
			path = "/skills/" + tt.skill
		}
		body := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + tt.parts + `]}}`
		got := w.do("alice", "POST", path+"/message:send", body, "A2A-Version: 1.0")
		refused := got.status == 400 && strings.Contains(got.body, "CONTENT_TYPE_NOT_SUPPORTED")
		if refused != (tt.want != "") || !strings.Contains(strings.ReplaceAll(got.body, `\"`, `"`), tt.want) {
			t.Errorf("%s %v %s %s: %d %s", tt.top, tt.skills, tt.skill, tt.parts, got.status, got.body)
		}
		if seen := len(w.agent.take()); (seen == 0) != refused {
			t.Errorf("%s %s: the agent saw %d requests", tt.top, tt.parts, seen)
		}
	}
}

// TestModesReported: a call is recorded, and goes on, also when it cannot be judged.
func TestModesReported(t *testing.T) {
	t.Parallel()
	const twoWays = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","data":{}}]}}`
	for mode, status := range map[ext.Mode]int{ext.Off: 200, ext.Report: 200, ext.Enforce: 400, "": 200} {
		w := in(t, picky(`"defaultInputModes":["image/*"],"defaultOutputModes":["a/b"]`, `"a"`), moded(mode))
		for _, body := range []string{message(""), twoWays} {
			if got := w.do("alice", "POST", "/message:send", body, "A2A-Version: 1.0"); got.status != status {
				t.Errorf("%s: %d %s", mode, got.status, got.body)
			}
		}
		if seen := len(w.agent.take()); seen != map[int]int{200: 2, 400: 0}[status] {
			t.Errorf("%s: the agent saw %d requests", mode, seen)
		}
		var notes []any
		for _, record := range w.audited("call") {
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
