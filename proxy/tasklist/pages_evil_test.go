package tasklist_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// A2: agents that page wrongly, by mistake or on purpose: nothing loops, nobody else's
// is shown or counted, and what is shown of the caller's is shown once.
func TestA02_AgentsThatPageWrongly(t *testing.T) {
	t.Parallel()
	next := func(l *library, a inquiry, token string) string {
		return strings.Replace(l.page(a), `"nextPageToken":"`, `"nextPageToken":"`+token+`","x":"`, 1)
	}
	for name, tt := range map[string]struct {
		answer func(l *library, a inquiry) string
		whole  bool // a walk finds everything
		fault  string
	}{
		"says the same token again": {answer: func(l *library, a inquiry) string {
			a.token = ""
			return next(l, a, "again")
		}},
		"goes in a circle": {answer: func(l *library, a inquiry) string {
			to := map[string]string{"": "one", "one": "two", "two": "one"}[a.token]
			a.token = ""
			return next(l, a, to)
		}},
		"repeats the first page for ever": {answer: func(l *library, a inquiry) string {
			n := len(a.token)
			a.token = ""
			return next(l, a, strings.Repeat("x", n+1))
		}},
		"empty pages for ever": {answer: func(_ *library, a inquiry) string {
			return listOf(nil, a.token+"x", 50, 0)
		}},
		"counts everybody's": {whole: true, answer: func(l *library, a inquiry) string {
			return strings.Replace(l.page(a), `"totalSize":`, `"TotalSize":99999,"total_size":"99999","totalSize":99999`, 1)
		}},
		"gives all at once": {whole: true, answer: func(l *library, a inquiry) string { return l.from(a, 1000) }},
		"gives more than asked": {whole: true, answer: func(l *library, a inquiry) string {
			return l.from(a, 90)
		}},
		"gives less than asked": {whole: true, answer: func(l *library, a inquiry) string { return l.from(a, 3) }},
		"shows a second token": {whole: true, answer: func(l *library, a inquiry) string {
			return strings.Replace(l.page(a), `"tasks":`, `"NextPageToken":"bob-1","next_page_token":"","tasks":`, 1)
		}},
		"a long token": {fault: "longer than", answer: func(l *library, a inquiry) string {
			return next(l, a, strings.Repeat("x", 4097))
		}},
		"a number": {fault: "nvalid agent response", answer: func(*library, inquiry) string {
			return `{"tasks":[],"nextPageToken":7}`
		}},
		"breaks off": {fault: "nvalid agent response", answer: func(l *library, a inquiry) string {
			if a.token != "" {
				return `{"tasks":7}`
			}
			return l.page(a)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, lib := newLibrary(t, proxytest.RPC10, 100)
			lib.answer = tt.answer
			f := map[string]any{"pageSize": 60}
			page, got := list(w, "alice", proxytest.REST10, f)
			if n := lib.asked.Load(); n > 20 {
				t.Errorf("the agent was asked %d times", n)
			}
			if tt.fault != "" {
				got.Told(t, name, wire.BadAgentResponse, tt.fault)
				return
			}
			got.OK(t, name)
			seen := map[string]bool{}
			for _, task := range page.Tasks {
				if seen[task.ID] || !strings.HasPrefix(task.ID, "alice-") {
					t.Errorf("%s is shown, or twice", task.ID)
				}
				seen[task.ID] = true
			}
			if strings.Contains(got.Docs[0], "99999") || strings.Contains(got.Docs[0], "bob-") || page.Total > 100 {
				t.Errorf("%.300s", got.Docs[0])
			}
			if tt.whole {
				if ids, _ := walk(w, "alice", proxytest.RPC10, nil, 7, 100); !slices.Equal(ids, lib.want("alice", nil)) {
					t.Errorf("%d tasks of 100: %v", len(ids), ids)
				}
			}
		})
	}
}

// A2: a page token is good for the caller, agent and filter that it was given for, and
// every other is refused in the same bytes: nobody learns what was wrong.
func TestA02_StolenPageTokens(t *testing.T) {
	t.Parallel()
	w, _ := newLibrary(t, proxytest.GRPC10, 20, func(s *proxytest.Setup) {
		s.More = []agents.Config{{ID: "old"}}
		s.More[0].Card.URL = s.Agent.Card.URL + "?old"
		s.Docs = map[string]func(string) string{"old": proxytest.CardFor(proxytest.RPC03)}
	})
	f := map[string]any{"pageSize": 3, "status": "TASK_STATE_COMPLETED"}
	for _, s := range proxytest.ListSides {
		page, got := list(w, "alice", s, f)
		got.OK(t, "list")
		token := *page.Next
		with := func(token string, more ...any) map[string]any {
			all := map[string]any{"pageSize": 3, "status": "TASK_STATE_COMPLETED", "pageToken": token}
			for i := 0; i < len(more); i += 2 {
				if all[more[i].(string)] = more[i+1]; more[i+1] == nil {
					delete(all, more[i].(string))
				}
			}
			return all
		}
		_, got = list(w, "alice", s, with(token, "pageSize", 10))
		got.OK(t, "pages of another size")
		raw, err := base64.RawURLEncoding.DecodeString(token)
		proxytest.Must(t, err)
		changed := slices.Clone(raw)
		changed[len(changed)/2] ^= 1
		_, want := list(w, "alice", s, with("nonsense"))
		want.Refused(t, "nonsense", wire.InvalidParams)
		w.Agent.Take()
		for name, tt := range map[string]struct {
			who string
			f   map[string]any
		}{
			"somebody else":  {"bob", with(token)},
			"another state":  {"alice", with(token, "status", "TASK_STATE_WORKING")},
			"any state":      {"alice", with(token, "status", nil)},
			"a context":      {"alice", with(token, "contextId", "alice-c1")},
			"history":        {"alice", with(token, "historyLength", 1)},
			"artifacts":      {"alice", with(token, "includeArtifacts", true)},
			"a time":         {"alice", with(token, "statusTimestampAfter", "2026-01-01T00:00:00Z")},
			"cut":            {"alice", with(token[:len(token)-4])},
			"longer":         {"alice", with(token + "AAAA")},
			"changed":        {"alice", with(base64.RawURLEncoding.EncodeToString(changed))},
			"not canonical":  {"alice", with(token + "=")},
			"the agent's":    {"alice", with("alice-3")},
			"nearly nothing": {"alice", with("A")},
		} {
			_, got := list(w, tt.who, s, tt.f)
			got.Refused(t, fmt.Sprint(s, " ", name), wire.InvalidParams)
			if got.Body != want.Body || got.Err.Text() != want.Err.Text() {
				t.Errorf("%s %s: %q, want %q", s, name, got.Body, want.Body)
			}
		}
		w.Agent.Silent(t, "tokens that are not good")
		other := *w
		other.Base = strings.Replace(w.Base, "/rec", "/old", 1)
		if s != proxytest.GRPC10 { // which has no place for another agent's name here
			_, got = list(&other, "alice", s, with(token))
			got.Refused(t, "another agent", wire.InvalidParams)
		}
	}
}

// FuzzPageToken: whatever is sent as one, no token but those that were given leads to
// the agent.
func FuzzPageToken(f *testing.F) {
	w, lib := newLibrary(f, proxytest.RPC10, 5)
	page, _ := list(w, "alice", proxytest.REST10, map[string]any{"pageSize": 2})
	for _, seed := range []string{*page.Next, "", "A", (*page.Next)[1:], *page.Next + "=", "alice-2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		before := lib.asked.Load()
		got := w.For(t).Do("alice", "GET", w.Base+"/tasks?pageSize=2&pageToken="+url.QueryEscape(token), "", "A2A-Version: 1.0")
		if good := token == "" || token == *page.Next; good != (got.Status == 200) || good != (lib.asked.Load() > before) {
			t.Errorf("%q: %d %s, agent asked %t", token, got.Status, got.Body, lib.asked.Load() > before)
		}
	})
}
