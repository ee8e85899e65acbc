package proxy_test

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// streamAs opens a stream and reads its first line.
func (w *world) streamAs(who string) (*http.Response, *bufio.Reader) {
	w.Helper()
	resp, err := w.http.Do(w.request(who, "POST", "", rpcBody("SendStreamingMessage", message("")), "A2A-Version: 1.0"))
	must(w, err)
	in := bufio.NewReader(resp.Body)
	w.event(in)
	return resp, in
}

// eachStreams is streamer with a task for each call.
func (w *world) eachStreams(end chan struct{}) (cancelled chan struct{}) {
	cancelled = make(chan struct{}, 16)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		event := strings.Replace(eventOf(r, working(0)), `"taskId":"t","contextId":"c"`, `"taskId":"`+r.Header.Get("X-Request-Id")+`"`, 1)
		_, _ = io.WriteString(rw, event)
		flush(rw)
		select {
		case <-end:
			_, _ = io.WriteString(rw, event)
		case <-r.Context().Done():
			cancelled <- struct{}{}
		}
	})
	return cancelled
}

// reviewed looks at the open streams until the agent has been told that one of them is
// over, as a gateway does every two seconds.
func (w *world) reviewed(streams *openstreams.Streams, p *proxy.Proxy, cancelled chan struct{}) {
	w.Helper()
	deadline := time.After(patience)
	for {
		streams.Review(p)
		select {
		case <-cancelled:
			return
		case <-deadline:
			w.Fatal("the stream is still open")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestR22_RevokedKeyEndsStreams: who revokes a key ends what its holder listens to, and
// nobody else's.
func TestR22_RevokedKeyEndsStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := build(t, func(s *setup) { s.streams = streams })
	end := make(chan struct{})
	cancelled := w.eachStreams(end)
	alice, in := w.streamAs("alice")
	bob, other := w.streamAs("bob")
	streams.Review(w.proxy) // nothing has changed: nothing ends
	keys, err := apikey.Open(filepath.Join(w.dir, "keys.yaml"))
	must(t, err)
	must(t, keys.Revoke("alice"))
	w.reviewed(streams, w.proxy, cancelled)
	rest, err := io.ReadAll(in)
	must(t, err)
	_ = alice.Body.Close()
	if all := events(string(rest)); len(all) != 1 || !strings.Contains(all[0], "UNAUTHENTICATED") || !strings.Contains(all[0], `"id":7`) {
		t.Errorf("alice read %s", rest)
	}
	close(end)
	rest, err = io.ReadAll(other)
	must(t, err)
	_ = bob.Body.Close()
	if all := events(string(rest)); len(all) != 1 || strings.Contains(all[0], "error") {
		t.Errorf("bob read %s", rest)
	}
	var ends []string
	eventually(t, "record", func() bool {
		ends = nil
		for _, r := range w.audited("call") {
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
		w := build(t, func(s *setup) { s.streams = streams })
		cancelled := w.streamer(make(chan struct{}))
		resp, in := w.streamAs("alice")
		o := w.proxy.Options
		tt.change(&o)
		next, err := proxy.New(o)
		must(t, err)
		w.reviewed(streams, next, cancelled)
		rest, err := io.ReadAll(in)
		must(t, err)
		_ = resp.Body.Close()
		if all := events(string(rest)); len(all) != 1 || !strings.Contains(all[0], tt.want) {
			t.Errorf("%s: alice read %s", name, rest)
		}
	}
}

// TestR22_UnsharedTaskEndsStreams: who listens to a task of somebody else's, because it
// is shared, hears no more of it once it is not.
func TestR22_UnsharedTaskEndsStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := build(t, func(s *setup) {
		s.streams = streams
		s.policy.Tasks.Sharing = []policy.Sharing{{Name: "all", Subjects: []string{"*"}}}
	})
	end := make(chan struct{})
	cancelled := w.streamer(end)
	own, _ := w.streamAs("alice") // of the task "t", which is alice's now
	resp, err := w.http.Do(w.request("bob", "POST", "", rpcBody("SubscribeToTask", `{"id":"t"}`), "A2A-Version: 1.0"))
	must(w, err)
	in := bufio.NewReader(resp.Body)
	w.event(in)
	o := w.proxy.Options
	o.Policy, _, err = policy.Compile(policy.Config{Rules: []policy.Rule{{Name: "all", Effect: "allow"}}}, []string{"rec"})
	must(w, err)
	next, err := proxy.New(o)
	must(w, err)
	w.reviewed(streams, next, cancelled)
	rest, err := io.ReadAll(in)
	must(t, err)
	_ = resp.Body.Close()
	if all := events(string(rest)); len(all) != 1 || !strings.Contains(all[0], "TASK_NOT_FOUND") {
		t.Errorf("bob read %s", rest)
	}
	close(end) // alice's stream goes on
	rest, err = io.ReadAll(own.Body)
	must(t, err)
	_ = own.Body.Close()
	if strings.Contains(string(rest), "error") {
		t.Errorf("alice read %s", rest)
	}
}
