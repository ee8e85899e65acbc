package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzLastEventID: whatever a client comes back with, no id but those that it was given
// leads to the agent (A05).
func FuzzLastEventID(f *testing.F) {
	w := build(f, streaming())
	k := w.works()
	l := w.listen("alice", "SendStreamingMessage", message(""))
	k.say("a")
	l.hears("task submitted ", "+a")
	given := l.last
	head, tail, _ := strings.Cut(given, ".")
	for _, seed := range []string{
		head + ".", head + ".0", head + ".01", head + "=." + tail, head[1:] + "." + tail, head + "." + tail + ".1", "." + tail,
		head + ".99999999999999999999", strings.ToUpper(given), "A.1",
	} {
		f.Add(seed)
	}
	w.agent.take()
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" || strings.HasPrefix(id, head+".") || strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
			return // none, one that was given with another number, or none that a header has
		}
		got := w.of(t).call("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+id)
		if len(w.agent.take()) > 0 || got.status != http.StatusOK || !strings.Contains(got.body, "-32602") {
			t.Errorf("%q: %d %s", id, got.status, got.body)
		}
	})
}
