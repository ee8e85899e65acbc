package stream_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// TestEveryParser: with ids, heartbeats between them and at the end, an id that is taken
// back, and documents of several lines, a strict parser has exactly the agent's events, and
// one that reads line by line has a whole document on each data line.
func TestEveryParser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c client
		ids := map[string]string{"1": "a", "{\n \"two\": 2\n}": "b", "3": "\x00"}
		see := func(e stream.Entry, emit relay.Emit) error { return emit(ids[string(e.Data)], e.Name, e.Data) }
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: see}, nil)
		for _, said := range []string{"data: 1\n\n", "event: x\ndata: {\ndata:  \"two\": 2\ndata: }\n\n", "data: 3\n\n", "data: 4\n\n"} {
			_, _ = io.WriteString(to, said)
			time.Sleep(40 * time.Second)
		}
		_ = to.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(c.text(), ": keep-alive\n"); n != 8 {
			t.Errorf("%d heartbeats", n)
		}
		want := []ssetest.Event{
			{ID: "a", Data: "1", Retry: -1}, {Name: "x", ID: "b", Data: `{  "two": 2 }`, Retry: -1}, {Data: "3", Retry: -1}, {Data: "4", Retry: -1},
		}
		if diff := cmp.Diff(want, ssetest.Read(c.text())); diff != "" {
			t.Errorf("-want +got:\n%s\nof %q", diff, c.text())
		}
	})
}

// TestCommentsAreLife: an agent that sends nothing but comments, without a blank line behind
// them as the gateway itself does, is not idle.
func TestCommentsAreLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, _, c := running(t, hub(t, nil))
		for range 100 {
			a.then(": keep-alive\n", nil)
			time.Sleep(20 * time.Second)
		}
		a.say("still here")
		if e, err := c.Next(t.Context()); err != nil || string(e.Data) != "still here" {
			t.Errorf("%s, %v", e.Data, err)
		}
		var out client
		to, done := run(t.Context(), &out, relay.Relay{Limits: limits(), See: same}, nil)
		for range 100 {
			_, _ = io.WriteString(to, ": keep-alive\n")
			time.Sleep(20 * time.Second)
		}
		_, _ = io.WriteString(to, "data: 1\n\n")
		_ = to.Close()
		if err := <-done; err != nil || !strings.HasSuffix(out.text(), "data: 1\n\n") {
			t.Errorf("without a feed: %q, %v", out.text(), err)
		}
	})
}
