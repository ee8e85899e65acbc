package openstreams_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// opened is a stream that is open, and what closes it.
func opened(t *testing.T, all *openstreams.Streams, id string) (*openstreams.Stream, func()) {
	t.Helper()
	method, _ := wire.ByName(wire.V10, "SendStreamingMessage")
	st := openstreams.NewStream(id, policy.Request{Principal: &authn.Principal{Subject: "alice"}, Method: method}, false, nil, "", 0)
	_, _, done := all.Watch(t.Context(), st, 0)
	return st, done
}

// TestFollow: who watches has what its client is given from then on, until the stream ends or they
// leave; content is for those who are to have it.
func TestFollow(t *testing.T) {
	t.Parallel()
	var all openstreams.Streams
	st, done := opened(t, &all, "s")
	if all.Follow("other", 1<<20, true) != nil {
		t.Error("a stream that is not there can be watched")
	}
	if watched, _ := st.Watched(); watched {
		t.Error("it is watched by nobody")
	}
	plain := all.Follow("s", 1<<20, false)
	if watched, content := st.Watched(); !watched || content {
		t.Error(watched, content)
	}
	reader := all.Follow("s", 1<<20, true)
	if _, content := st.Watched(); !content {
		t.Error("nobody is to have content")
	}
	st.Show(openstreams.Event{Kind: "status", Content: "secret", Cut: true})
	for w, want := range map[*openstreams.Watcher]string{plain: "", reader: "secret"} {
		<-w.Wake()
		if dropped, events, end := w.Take(); dropped != 0 || len(events) != 1 || events[0].Kind != "status" || events[0].Content != want || end != "" {
			t.Error(dropped, events, end)
		}
	}
	plain.Leave()
	done()
	st.Over("")
	<-reader.Wake()
	if _, events, end := reader.Take(); len(events) != 0 || end == "" {
		t.Errorf("%v, ended %q", events, end)
	}
	if _, _, end := plain.Take(); end != "" {
		t.Error("who has left is told how it ended")
	}
	if watched, _ := st.Watched(); watched || all.Follow("s", 1<<20, true) != nil {
		t.Error("what is over is watched")
	}
}

// TestFollowBounds: a watcher who takes nothing holds up nobody and keeps no more than its room, of
// which no single event takes all; how many are left out is said.
func TestFollowBounds(t *testing.T) {
	t.Parallel()
	const room = 4 << 10
	var all openstreams.Streams
	st, done := opened(t, &all, "s")
	defer done()
	w := all.Follow("s", room, true)
	began := time.Now()
	for i := range 10_000 {
		st.Show(openstreams.Event{Kind: "artifact", ID: fmt.Sprint(i), Content: strings.Repeat("x", room)})
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	dropped, events, _ := w.Take()
	size := 0
	for i := range events {
		size += len(events[i].Content)
		if !events[i].Cut || len(events[i].Content) > room/4 {
			t.Errorf("an event of %d bytes, cut %v", len(events[i].Content), events[i].Cut)
		}
	}
	if dropped+len(events) != 10_000 || len(events) == 0 || size > room || events[len(events)-1].ID != "9999" {
		t.Errorf("%d dropped, %d are there with %d bytes", dropped, len(events), size)
	}
}
