package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA26_Loops: a call that has passed this gateway, or too many of anything, ends
// here, and the agent hears nothing of it.
func TestA26_Loops(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.ID, s.Server.Limits.Hops = "Gate-A:1", 4 })
	for name, tt := range map[string]struct {
		via  []string
		loop bool
		told string // Via at the agent, where it gets there
	}{
		"none":                   {nil, false, "1.1 Gate-A:1"},
		"another gateway":        {[]string{"Via: 2.0 gate-b"}, false, "1.1 gate-b, 1.1 Gate-A:1"},
		"several, in lines":      {[]string{"Via: 1.1 b, HTTP/1.1 c", "Via: 1.0 d (who, what)"}, false, "1.1 b, 1.1 c, 1.1 d, 1.1 Gate-A:1"},
		"in a comment only":      {[]string{"Via: 1.1 b (1.1 Gate-A:1, 1.1 gate-a:1)"}, false, "1.1 b, 1.1 Gate-A:1"},
		"part of another name":   {[]string{"Via: 1.1 Gate-A:12"}, false, "1.1 Gate-A:12, 1.1 Gate-A:1"},
		"nothing said":           {[]string{"Via: , ,"}, false, "1.1 Gate-A:1"},
		"as many as may be":      {[]string{"Via: 1.1 b, 1.1 c, 1.1 d, 1.1 e"}, false, "1.1 b, 1.1 c, 1.1 d, 1.1 e, 1.1 Gate-A:1"},
		"one too many":           {[]string{"Via: 1.1 b, 1.1 c, 1.1 d, 1.1 e, 1.1 f"}, true, ""},
		"itself":                 {[]string{"Via: 1.1 Gate-A:1"}, true, ""},
		"itself, further back":   {[]string{"Via: 1.1 Gate-A:1, 1.1 b", "Via: 1.1 c"}, true, ""},
		"itself, in other case":  {[]string{"Via: 1.1 b,2 gate-a:1"}, true, ""},
		"itself, by name alone":  {[]string{"Via: b, gate-a:1"}, true, ""},
		"itself, with a comment": {[]string{"Via: 1.1 Gate-A:1 (go), 1.1 b"}, true, ""},
		"a comment in the name":  {[]string{"Via: 1.1 b("}, false, "1.1 b, 1.1 Gate-A:1"},
		"a comment for a name":   {[]string{"Via: 1.1 (b"}, false, "1.1 unnamed, 1.1 Gate-A:1"},
		"an open comment":        {[]string{"Via: 1.1 b (, 1.1 Gate-A:1"}, false, "1.1 b, 1.1 Gate-A:1"},
	} {
		got := w.Call("alice", "SendMessage", proxytest.Message(""), tt.via...)
		if !tt.loop {
			proxytest.WantStatus(t, name, got, 200)
			if seen := w.Agent.One(t).Header["Via"]; !slices.Equal(seen, []string{tt.told}) {
				t.Errorf("%s: the agent got Via %q, want %q", name, seen, tt.told)
			}
			continue
		}
		proxytest.WantStatus(t, name, got, 508)
		if !strings.Contains(got.Body, `"id":7`) || !strings.Contains(got.Body, "LOOP_DETECTED") {
			t.Errorf("%s: %s", name, got.Body)
		}
		w.Agent.Silent(t, name)
	}
}

// TestA26_Ring: gateway A sends its agent's calls to gateway B, and B sends them to A.
// The ring is found when it closes; the one agent that is no gateway is never called.
func TestA26_Ring(t *testing.T) {
	t.Parallel()
	b := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.ID = "gate-b" })
	var agentAtB string
	a := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.ID = "gate-a" })
	a.Agent.Answers(proxytest.PassOn(a, &agentAtB, func() string { return b.Keys["alice"] }))
	b.Agent.Answers(proxytest.PassOn(b, &a.Base, func() string { return a.Keys["alice"] }))
	agentAtB = b.Base
	got := a.Call("alice", "SendMessage", proxytest.Message(""))
	if !strings.Contains(got.Body, "LOOP_DETECTED") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if n := len(a.Agent.Take()) + len(b.Agent.Take()); n != 2 {
		t.Errorf("the ring was gone round in %d calls, want 2: to B, and back to A", n)
	}
}

// TestA26_RingBehindComment: an open comment in the caller's own Via hides nobody who is
// written behind it.
func TestA26_RingBehindComment(t *testing.T) {
	t.Parallel()
	for _, via := range []string{"1.1 x(", "x(", "1.1 x (", `1.1 x(\`} {
		a := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.ID = "gate-a" })
		a.Agent.Answers(proxytest.PassOn(a, &a.Base, func() string { return a.Keys["alice"] }))
		got := a.Call("alice", "SendMessage", proxytest.Message(""), "Via: "+via)
		if n := len(a.Agent.Take()); n != 1 || !strings.Contains(got.Body, "LOOP_DETECTED") {
			t.Errorf("%s: %d calls, %d %s", via, n, got.Status, got.Body)
		}
	}
}

// TestHopsInTheRecord: who passed a call on stands in its record.
func TestHopsInTheRecord(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	proxytest.WantStatus(t, "call", w.Call("alice", "SendMessage", proxytest.Message(""), "Via: 1.1 b", "Via: 1.1 c (x)"), 200)
	var all []map[string]any
	proxytest.Eventually(t, "record", func() bool { all = w.Audited("call"); return len(all) == 1 })
	if diff := cmp.Diff("[b c]", fmt.Sprint(all[0]["hops"])); diff != "" {
		t.Error(diff)
	}
}
