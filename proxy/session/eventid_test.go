package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// FuzzLastEventID: whatever a client comes back with, no id but those that it was given
// leads to the agent (A05).
func FuzzLastEventID(f *testing.F) {
	w := proxytest.NewGateway(f, proxytest.WithStreams())
	k := w.StartWorker()
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Say("a")
	l.Hears("task submitted ", "+a")
	given := l.Last
	head, tail, _ := strings.Cut(given, ".")
	for _, seed := range []string{
		head + ".", head + ".0", head + ".01", head + "=." + tail, head[1:] + "." + tail, head + "." + tail + ".1", "." + tail,
		head + ".99999999999999999999", strings.ToUpper(given), "A.1",
	} {
		f.Add(seed)
	}
	w.Agent.Take()
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" || strings.HasPrefix(id, head+".") || strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
			return // none, one that was given with another number, or none that a header has
		}
		got := w.For(t).Call("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+id)
		if len(w.Agent.Take()) > 0 || got.Status != http.StatusOK || !strings.Contains(got.Body, "-32602") {
			t.Errorf("%q: %d %s", id, got.Status, got.Body)
		}
	})
}
