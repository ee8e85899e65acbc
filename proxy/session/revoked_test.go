package session_test

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// streamAs opens a stream and reads its first line.
func streamAs(w *proxytest.Gateway, who string) (*http.Response, *bufio.Reader) {
	w.Helper()
	resp, err := w.Client.Do(w.Request(who, "POST", "", proxytest.RPCBody("SendStreamingMessage", proxytest.Message("")), "A2A-Version: 1.0"))
	proxytest.Must(w, err)
	in := bufio.NewReader(resp.Body)
	w.ReadEvent(in)
	return resp, in
}

// TestR22_RevokedKeyEndsStreams: who revokes a key ends what its holder listens to, and
// nobody else's.
func TestR22_RevokedKeyEndsStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Streams = streams })
	end := make(chan struct{})
	cancelled := w.StreamEachTask(end)
	alice, in := streamAs(w, "alice")
	bob, other := streamAs(w, "bob")
	streams.Review(w.Proxy) // nothing has changed: nothing ends
	keys, err := apikey.Open(filepath.Join(w.Dir, "keys.yaml"))
	proxytest.Must(t, err)
	proxytest.Must(t, keys.Revoke("alice"))
	w.ReviewUntil(streams, w.Proxy, cancelled)
	rest, err := io.ReadAll(in)
	proxytest.Must(t, err)
	_ = alice.Body.Close()
	if all := proxytest.EventsIn(string(rest)); len(all) != 1 || !strings.Contains(all[0], "UNAUTHENTICATED") || !strings.Contains(all[0], `"id":7`) {
		t.Errorf("alice read %s", rest)
	}
	close(end)
	rest, err = io.ReadAll(other)
	proxytest.Must(t, err)
	_ = bob.Body.Close()
	if all := proxytest.EventsIn(string(rest)); len(all) != 1 || strings.Contains(all[0], "error") {
		t.Errorf("bob read %s", rest)
	}
	var ends []string
	proxytest.Eventually(t, "record", func() bool {
		ends = nil
		for _, r := range w.Audited("call") {
			end, _ := r["end"].(string)
			ends = append(ends, end)
		}
		return len(ends) == 2
	})
	if got := strings.Join(ends, "|"); !strings.Contains(got, "caller no longer permitted") {
		t.Errorf("the record says %s", got)
	}
}

// TestR22_NewRulesEndStreams: so does a configuration under which the stream would not
// have been opened.
func TestR22_NewRulesEndStreams(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*proxy.Options)
		want   string
	}{
		"a rule": {func(o *proxy.Options) {
			o.Policy, _, _ = policy.Compile(policy.Config{Rules: []policy.Rule{
				{Name: "all", Effect: "allow", Methods: []string{"GetTask"}},
			}}, []string{"rec"})
		}, "UNAUTHORIZED"},
		"no rule": {func(o *proxy.Options) {
			o.Policy, _, _ = policy.Compile(policy.Config{}, []string{"rec"})
		}, "AGENT_NOT_FOUND"},
		"no agent": {func(o *proxy.Options) { o.Agents = nil }, "AGENT_NOT_FOUND"},
	} {
		streams := new(openstreams.Streams)
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Streams = streams })
		cancelled := w.StreamUntil(make(chan struct{}))
		resp, in := streamAs(w, "alice")
		o := w.Proxy.Options
		tt.change(&o)
		next, err := proxy.New(o)
		proxytest.Must(t, err)
		w.ReviewUntil(streams, next, cancelled)
		rest, err := io.ReadAll(in)
		proxytest.Must(t, err)
		_ = resp.Body.Close()
		if all := proxytest.EventsIn(string(rest)); len(all) != 1 || !strings.Contains(all[0], tt.want) {
			t.Errorf("%s: alice read %s", name, rest)
		}
	}
}

// TestR22_UnsharedTaskEndsStreams: who listens to a task of somebody else's, because it
// is shared, hears no more of it once it is not.
func TestR22_UnsharedTaskEndsStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Streams = streams
		s.Policy.Tasks.Sharing = []policy.Sharing{{Name: "all", Subjects: []string{"*"}}}
	})
	end := make(chan struct{})
	cancelled := w.StreamUntil(end)
	own, _ := streamAs(w, "alice") // of the task "t", which is alice's now
	resp, err := w.Client.Do(w.Request("bob", "POST", "", proxytest.RPCBody("SubscribeToTask", `{"id":"t"}`), "A2A-Version: 1.0"))
	proxytest.Must(w, err)
	in := bufio.NewReader(resp.Body)
	w.ReadEvent(in)
	o := w.Proxy.Options
	o.Policy, _, err = policy.Compile(policy.Config{Rules: []policy.Rule{{Name: "all", Effect: "allow"}}}, []string{"rec"})
	proxytest.Must(w, err)
	next, err := proxy.New(o)
	proxytest.Must(w, err)
	w.ReviewUntil(streams, next, cancelled)
	rest, err := io.ReadAll(in)
	proxytest.Must(t, err)
	_ = resp.Body.Close()
	if all := proxytest.EventsIn(string(rest)); len(all) != 1 || !strings.Contains(all[0], "TASK_NOT_FOUND") {
		t.Errorf("bob read %s", rest)
	}
	close(end) // alice's stream goes on
	rest, err = io.ReadAll(own.Body)
	proxytest.Must(t, err)
	_ = own.Body.Close()
	if strings.Contains(string(rest), "error") {
		t.Errorf("alice read %s", rest)
	}
}
