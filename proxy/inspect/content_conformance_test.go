package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// strangeCase is what A2A does not define, from a caller or an agent.
type strangeCase struct {
	name   string
	asked  func(proxytest.Words) string
	events func(s proxytest.Words, id string) []string
	at     string // a pointer
	text   string
}

const (
	noMember = "A2A has no such member"
	noValue  = "A2A has no such value"
)

var strangeCases = []strangeCase{
	{name: "nothing"},
	{name: "data is anybody's", asked: func(s proxytest.Words) string {
		return s.Send(s.Data(`{"kind":1}`), proxytest.Meta("x", `{"kind":1}`), "")
	}},
	{name: "member of a message", asked: func(s proxytest.Words) string { return s.Send("", `,"mood":"secret"`, "") }, at: "/message/mood", text: noMember},
	{name: "member of the params", asked: func(s proxytest.Words) string { return s.Send("", "", `,"x/~":1`) }, at: "/x~1~0", text: noMember},
	{name: "role", asked: func(s proxytest.Words) string {
		return strings.NewReplacer(`"user"`, `"secret"`, `"ROLE_USER"`, `9`).Replace(s.Send("", "", ""))
	}, at: "/message/role", text: noValue},
	{name: "member of a status", events: func(s proxytest.Words, id string) []string {
		return []string{s.Status(id, "working", ""), strings.Replace(s.Status(id, "working", ""), `"state"`, `"mood":1,"state"`, 1)}
	}, at: "/status/mood", text: noMember},
	{name: "state", events: func(s proxytest.Words, id string) []string {
		return []string{s.Status(id, "working", ""), strings.NewReplacer(`"working"`, `"secret"`, `"TASK_STATE_WORKING"`, `77`).Replace(s.Status(id, "working", ""))}
	}, at: "/status/state", text: noValue},
}

// TestConformance: members and values that A2A does not define are refused in both
// directions, only recorded, or nobody's business; in the words of every side.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []ext.Mode{ext.Enforce, ext.Report, ext.Off, "shadow"} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) {
			if s.Agent.Extensions.Conformance = mode; mode == "shadow" {
				s.Agent.Extensions.Conformance, s.Agent.Extensions.Mode = ext.Enforce, "shadow"
			}
		})
		calls, bad := 0, 0
		for i, agent := range proxytest.Sides {
			w.BecomeCard(proxytest.CardFor(agent))
			for j, tt := range strangeCases {
				for _, caller := range proxytest.CallersOf(i, j) {
					// Protobuf drops what it does not know, but for the numbers of words.
					unsaid := tt.asked != nil && caller.Binding == wire.GRPC || tt.events != nil && agent.Binding == wire.GRPC
					if unsaid && tt.text == noMember {
						continue
					}
					calls++
					if tt.at != "" {
						bad++
					}
					tt.run(t, w, fmt.Sprintf("%s, %s to %s: %s", mode, caller, agent, tt.name), caller, mode)
				}
			}
		}
		if mode == ext.Off {
			bad = 0
		}
		found := violations(w, calls)
		for _, v := range found {
			if !strings.HasPrefix(v, "conformance /") || !strings.HasSuffix(v, fmt.Sprint(mode == ext.Enforce)) {
				t.Errorf("%s: %s", mode, v)
			}
		}
		if len(found) != bad {
			t.Errorf("%s: %d violations, want %d", mode, len(found), bad)
		}
	}
}

func (c strangeCase) run(t *testing.T, w *proxytest.Gateway, what string, caller wire.Side, mode ext.Mode) {
	t.Helper()
	w.Agent.Answers(proxytest.Fluent)
	if c.events != nil {
		w.AnswerIn(c.events)
	}
	s := proxytest.Words{Side: caller}
	params := s.Send("", "", "")
	if c.asked != nil {
		params = c.asked(s)
	}
	w.Agent.Take()
	got := w.Utter(caller, wire.SendStreamingMessage, params)
	switch {
	case c.at == "" || mode != ext.Enforce:
		// What is translated cannot keep a word that nobody knows.
		if c.text != noValue && (len(w.Agent.Take()) != 1 || got.Err != nil) {
			t.Errorf("%s: %v", what, got.Err)
		}
	case c.asked != nil:
		got.Told(t, what, wire.InvalidParams, "Invalid parameters: "+around(caller, "/params")+c.at+": "+c.text)
		w.Agent.Silent(t, what)
	default:
		got.Told(t, what, proxytest.BadAnswer(caller), c.at+": "+c.text)
		if len(got.Docs) == 0 {
			t.Errorf("%s: what came before is lost: %s", what, got.Body)
		}
	}
	if mode == ext.Enforce && strings.Contains(got.Body, "secret") {
		t.Errorf("%s: the value is repeated: %s", what, got.Body)
	}
}

// around is what stands before the pointer into params or a result.
func around(s wire.Side, member string) string {
	if s.Binding == wire.JSONRPC {
		return member
	}
	return ""
}
