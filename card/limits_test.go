package card_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// endless is a card whose every text is of so many characters, and every list of so many
// entries.
func endless(characters, entries int) string {
	text := strings.Repeat("ä ", characters/2)
	list := `"` + text + `"` + strings.Repeat(`,"`+text+`"`, entries-1)
	return strings.NewReplacer("TEXT", `"`+text+`"`, "LIST", "["+list+"]",
		"LINK", strings.Repeat("x", characters)).Replace(`{
		"name": TEXT, "description": TEXT, "version": TEXT, "url": "https://agent.test/a2a", "protocolVersion": "0.3.0",
		"provider": {"organization": TEXT, "url": "https://provider.example"}, "documentationUrl": "https://docs.example/LINK",
		"supportedInterfaces": [{"url": "https://agent.test/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
		"capabilities": {"streaming": true, "extensions": [{"uri": "urn:e", "description": TEXT, "params": {"p": TEXT, "q": 1}}]},
		"defaultInputModes": LIST, "defaultOutputModes": ["text/plain"],
		"skills": [{"id": "s", "name": TEXT, "description": TEXT, "tags": LIST, "examples": LIST, "inputModes": LIST, "x": {TEXT: TEXT}},
			{"id": TEXT, "name": "n", "description": "d", "tags": []}], "x": TEXT, "y": LIST
	}`)
}

// texts walks through all strings of a document, names of members included, with the length
// of the list that each is in.
func texts(v any, see func(s string, list int)) {
	switch v := v.(type) {
	case string:
		see(v, 1)
	case []any:
		for _, e := range v {
			texts(e, func(s string, _ int) { see(s, len(v)) })
		}
	case map[string]any:
		for name, e := range v {
			see(name, 1)
			texts(e, see)
		}
	}
}

// TestA14_ServedCardsAreBounded: whatever the agent says, no text of a served card is longer
// than configured, and no list has more entries; what is cut ends with a mark.
func TestA14_ServedCardsAreBounded(t *testing.T) {
	testenv.Long(t, "cards of the largest size are rendered")
	testenv.Alone(t, "cards of the largest size are rendered")
	t.Parallel()
	c := mustParse(t, endless(3200, 30))
	for _, l := range []card.Limits{{}, {Name: 16, Text: 50, Entries: 2}, {Name: 100, Text: 16, Entries: 1}} {
		name, text, entries := 200, 4096, 100
		if l.Entries != 0 {
			name, text, entries = int(l.Name), int(l.Text), l.Entries
		}
		for _, form := range forms {
			v := form.view(c)
			v.Limits, v.Extensions = l, []ext.Declared{{URI: "urn:e"}, {URI: "urn:" + strings.Repeat("x", 5000)}}
			got := mustRender(t, c, v)
			var doc map[string]any
			if err := json.Unmarshal([]byte(got), &doc); err != nil {
				t.Fatal(err)
			}
			delete(doc, "supportedInterfaces") // the gateway's own
			delete(doc, "securitySchemes")
			cut := 0
			texts(doc, func(s string, list int) {
				if len(s) > max(name, text, 24) || !utf8.ValidString(s) || list > max(entries, 1) && strings.Contains(s, "ä") {
					t.Errorf("%s, %+v: %d bytes in a list of %d: %.60s", form.name, l, len(s), list, s)
				}
				if strings.Contains(s, "ä") {
					if cut++; !strings.HasSuffix(s, "ä…") {
						t.Errorf("%s, %+v: %s has no mark", form.name, l, s)
					}
				}
			})
			skills, _ := doc["skills"].([]any)
			skill, _ := skills[0].(map[string]any)
			if s, _ := skill["name"].(string); len(s) > name || cut < 8 || len(skills) != 1 {
				t.Errorf("%s, %+v: %d texts are cut, %d skills: %s", form.name, l, cut, len(skills), got)
			}
		}
		said := c.Summarize(card.View{Limits: l})
		if len(said.Name) > name || len(said.Version) > name || len(said.Description) > text || len(said.Documentation) > text ||
			len(said.Skills) != 1 || len(said.Skills[0].Tags) > entries || len(said.Skills[0].Name) > name {
			t.Errorf("%+v: in lists: %+v", l, said)
		}
	}
}

// TestCardsWithinLimitsPass: to the byte what they are without limits.
func TestCardsWithinLimitsPass(t *testing.T) {
	t.Parallel()
	documents := map[string]string{"long": endless(300, 30)}
	for path, a := range archives(t) {
		documents[path] = string(part(a, "agent.json"))
	}
	for name, raw := range documents {
		c := mustParse(t, raw)
		for _, form := range forms {
			v := form.view(c)
			v.Limits = card.Limits{Name: card.MaxSize, Text: card.MaxSize, Entries: card.MaxSize}
			wide := mustRender(t, c, v)
			v.Limits = card.Limits{Name: 1000, Text: 1000, Entries: 30}
			if got := mustRender(t, c, v); got != wide || strings.Contains(got, "…") {
				t.Errorf("%s as %s: %s", name, form.name, got)
			}
			v.Limits = card.Limits{Name: 16, Text: 16, Entries: 1}
			if got := mustRender(t, c, v); got == wide {
				t.Errorf("%s as %s is remembered for other limits", name, form.name)
			}
		}
	}
}

// TestA17_CutsUncoverNothing: where a text is cut, nothing appears that was taken out or
// was hidden by what followed.
func TestA17_CutsUncoverNothing(t *testing.T) {
	t.Parallel()
	for plant, needle := range map[string]string{
		"http://10.0.0.5/admin": "10.0.0.5", "https://u:p4ssw0rd@example.org/": "p4ssw0rd", "https://agent.test/a2a": "agent.test",
		"AKIAIOSFODNN7EXAMPLE": "AKIA", "<!-- hidden -->": "hidden", "\x1b[8mhidden\x1b[0m": "\x1b", "<scripted>": "<script…",
	} {
		for before := range 60 {
			quoted, err := json.Marshal(strings.Repeat("a", before) + " " + plant + " " + strings.Repeat("z", 60))
			if err != nil {
				t.Fatal(err)
			}
			c := mustParse(t, fmt.Sprintf(`{"name":"n","description":%s,"url":"https://agent.test/a2a","skills":[{"id":"s","examples":[%[1]s]}]}`, quoted))
			v := view(c, wire.V10)
			v.Limits = card.Limits{Name: 50, Text: 50}
			if got := mustRender(t, c, v); strings.Contains(got, needle) {
				t.Fatalf("%q behind %d bytes: %s", plant, before, got)
			}
		}
	}
}

// TestCutCardsAreSigned: the gateway's signature is over what is served.
func TestCutCardsAreSigned(t *testing.T) {
	testenv.Long(t, "cards of the largest size are signed")
	t.Parallel()
	r := ring(t)
	check, c := verifier(t, r), mustParse(t, endless(3200, 30))
	for _, form := range forms {
		v := form.view(c)
		if v.Signer = signature.NewSigner(r, jku); form.side == (wire.Side{Version: wire.V03, Binding: wire.GRPC}) {
			continue // has no signatures
		}
		body, _, err := c.Render(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := check.Verify(t.Context(), body); err != nil || !bytes.Contains(body, []byte("…")) {
			t.Errorf("%s: %v: %.300s", form.name, err, body)
		}
	}
}

// crowd is a card with so many skills.
func crowd(n int) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, `,{"id":"s%d"}`, i)
	}
	return `{"name":"n","skills":[` + strings.TrimPrefix(b.String(), ",") + `]}`
}

// TestA14_TooManySkills: such a card does not come into force, however often it is
// fetched, and the one that is in force stays.
func TestA14_TooManySkills(t *testing.T) {
	t.Parallel()
	var body atomic.Pointer[string]
	serve := func(s string) { body.Store(&s) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		doc := *body.Load()
		tag := fmt.Sprintf(`"%d"`, len(doc))
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, doc)
	}))
	t.Cleanup(srv.Close)
	for most, limits := range map[int]card.Limits{1000: {}, 3: {Skills: 3}} {
		serve(crowd(most))
		s := card.NewSource(card.Config{URL: secret.URL(srv.URL), Limits: limits}, srv.Client(), nil)
		if err := s.Refresh(t.Context()); err != nil || len(s.Current().Skills) != most {
			t.Fatalf("%d skills: %v", most, err)
		}
		serve(crowd(most + 1))
		for range 3 {
			err := s.Refresh(t.Context())
			want := fmt.Sprintf("%d skills, at most %d (card.limits.skills)", most+1, most)
			if err == nil || !strings.Contains(err.Error(), want) || len(s.Current().Skills) != most {
				t.Errorf("%v, want %q; %d skills are in force", err, want, len(s.Current().Skills))
			}
		}
		serve(crowd(most - 1))
		if err := s.Refresh(t.Context()); err != nil || len(s.Current().Skills) != most-1 {
			t.Errorf("after that: %v", err)
		}
	}
	if _, err := card.ParseWithin([]byte(crowd(4)), card.Limits{Skills: 3}); err == nil {
		t.Error("it is parsed")
	}
}

func TestLimitsAreValid(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]card.Limits{
		"":                                    {Name: 16, Text: 1 << 20, Entries: 1, Skills: 1},
		"card.limits.name: 15B is not":        {Name: 15},
		"card.limits.text: 2MiB is not":       {Text: quantity.Size(2 << 20)},
		"card.limits.entries: -1 is negative": {Entries: -1},
		"card.limits.skills: -1 is negative":  {Skills: -1},
	} {
		err := card.Config{URL: "https://a.example/card", Limits: l}.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}
