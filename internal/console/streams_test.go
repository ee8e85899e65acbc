package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
)

// reel is a stream that somebody watches. It has no more than it is given.
type reel struct {
	mu      sync.Mutex
	wake    chan struct{}
	dropped int
	events  []streams.Event
	end     string
	content bool
	left    chan struct{}
}

func (r *reel) Wake() <-chan struct{} { return r.wake }

func (r *reel) Take() (dropped int, events []streams.Event, end string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dropped, events = r.dropped, r.events
	r.dropped, r.events = 0, nil
	return dropped, events, r.end
}

func (r *reel) Leave() { close(r.left) }

func (r *reel) give(dropped int, end string, events ...streams.Event) {
	r.mu.Lock()
	r.dropped, r.events, r.end = r.dropped+dropped, append(r.events, events...), end
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Follow is of streams that have ended by the time that they are watched, but where reels takes them.
func (f *flow) Follow(id string, _ int, content bool) streams.Watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended[id] || f.gone {
		return nil
	}
	r := &reel{wake: make(chan struct{}, 1), content: content, left: make(chan struct{})}
	if f.reels == nil {
		r.give(0, "agent finished")
	} else {
		f.reels <- r
	}
	return r
}

// flow is Streams of which there are s-00 to s-24, less those that were ended. Each began a
// second before the one behind it, but for two that began together.
type flow struct {
	mu    sync.Mutex
	ended map[string]bool
	reels chan *reel // of those who watch; nil for streams that end at once
	gone  bool       // streams end before anybody watches them
}

func (f *flow) Open() []streams.OpenStream {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []streams.OpenStream
	for i := 24; i >= 0; i-- {
		if id := fmt.Sprintf("s-%02d", i); !f.ended[id] {
			list = append(list, streams.OpenStream{
				ID: id, Caller: []string{"alice", "bob"}[i%2], Agent: []string{"a-1", "a-2", "a-3"}[i%3], Task: "t-" + id[2:], Captured: i%2 == 1,
				Began: time.Date(2026, 11, 21, 12, 0, max(i, 1), 0, time.UTC),
			})
		}
	}
	return list
}

func (f *flow) End(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended[id] || id < "s-00" || id > "s-24" {
		return false
	}
	if f.ended == nil {
		f.ended = map[string]bool{}
	}
	f.ended[id] = true
	return true
}

// streamsOf is a page of the streams that are open.
func (w *world) streamsOf(query string) (page streams.OpenStreams) {
	w.t.Helper()
	got := w.ask(http.MethodGet, "/api/v1/streams"+query, nil)
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != http.StatusOK {
		w.t.Fatal(got, err)
	}
	return page
}

// TestStreams: every stream is on exactly one page, the oldest first, also where one ends
// meanwhile; some are asked for by whose they are.
func TestStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var got []string
	next, pages := "", 0
	for {
		page := w.streamsOf("?limit=10" + next)
		if page.Open != 25-pages || page.Found != page.Open {
			t.Errorf("page %d: %d open, %d found", pages, page.Open, page.Found)
		}
		for i := range page.Streams {
			got = append(got, page.Streams[i].ID)
		}
		if pages++; page.Next == "" {
			break
		}
		next = "&cursor=" + page.Next
		w.flow.End(got[len(got)-1])
	}
	want := make([]string, 25)
	for i := range want {
		want[i] = fmt.Sprintf("s-%02d", i)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || pages != 3 {
		t.Errorf("%d pages: %q", pages, got)
	}
	for query, want := range map[string]string{
		"?caller=alice&agent=a-1":     "s-00 s-06 s-12 s-18 s-24",
		"?task=t-03":                  "s-03",
		"?task=t-03&caller=alice":     "",
		"?agent=a-2&limit=2":          "s-01 s-04",
		"?caller=*lic*&agent=*-1":     "s-00 s-06 s-12 s-18 s-24",
		"?caller=bob&agent=&limit=10": "",
	} {
		page := w.streamsOf(query)
		var ids []string
		for i := range page.Streams {
			ids = append(ids, page.Streams[i].ID)
		}
		if strings.Join(ids, " ") != want || (page.Next != "") != strings.Contains(query, "limit=2") {
			t.Errorf("%s: %q, next %q", query, ids, page.Next)
		}
	}
}

// TestStreamEnds: whoever ends a stream is on record, and nothing happens that is not.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.ask(http.MethodDelete, "/api/v1/streams/s-01", nil); got.status != http.StatusOK || got.body != `{"id":"s-01","state":"ended"}` {
		t.Error(got)
	}
	if got := w.ask(http.MethodDelete, "/api/v1/streams/s-01", nil); got.status != http.StatusNotFound || !strings.Contains(got.body, "NO_SUCH_STREAM") {
		t.Error(got)
	}
	w.unrecorded = true
	if got := w.ask(http.MethodDelete, "/api/v1/streams/s-02", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
	if page := w.streamsOf(""); page.Open != 24 {
		t.Errorf("%d are open", page.Open)
	}
	if e := w.recorded(); len(e) != 3 || e[0]["event"] != "stream.ended" || e[0]["id"] != "s-01" || e[0]["who"] == "" || e[2]["outcome"] != "not found" {
		t.Error(e)
	}
}

// watched is somebody who watches a stream.
func (w *world) watched(id, token string) (*spectator, *reel) {
	w.t.Helper()
	s := w.spectate("/api/v1/streams/"+id+"/events", token)
	return s, <-w.flow.reels
}

// TestWatch: an operator has the events of a stream as they come, until it ends; content is there where it is
// captured and admin.content is true, and else which of the two keeps it away. It is on record before.
func TestWatch(t *testing.T) {
	t.Parallel()
	const off, uncaptured = "admin.content is false", "no rule of telemetry.audit.content.rules"
	for _, tt := range []struct {
		content bool
		id      string // odd ones are captured
		why     []string
	}{
		{true, "s-01", nil}, {true, "s-02", []string{uncaptured}}, {false, "s-01", []string{off}}, {false, "s-02", []string{off, uncaptured}},
	} {
		w := newWorld(t, func(c *Config) { everyRole(c); c.Content = tt.content })
		w.flow.reels = make(chan *reel, 1)
		s, r := w.watched(tt.id, tokenOf(api.Operator))
		first := s.next()
		for _, text := range []string{off, uncaptured} {
			if strings.Contains(first, text) != slices.Contains(tt.why, text) {
				t.Errorf("%+v: %s", tt, first)
			}
		}
		if !strings.HasPrefix(first, `open  {"stream":{"id":"`+tt.id+`"`) || r.content != (tt.why == nil) {
			t.Errorf("%+v: %s, content %v", tt, first, r.content)
		}
		e := w.recorded()
		if len(e) != 1 || e[0]["event"] != "stream.watched" || e[0]["id"] != tt.id || e[0]["who"] != "the-operator" || e[0]["principal"] == "" ||
			e[0]["agent"] == "" || e[0]["task_id"] == "" || (e[0]["content"] == "shown") != (tt.why == nil) {
			t.Errorf("%+v: on record %v", tt, e)
		}
		r.give(0, "", streams.Event{Kind: "status", State: "TASK_STATE_WORKING", ID: "1", Bytes: 9, Content: `{"a":1}`})
		if got := s.next(); got != `event  {"time":"0001-01-01T00:00:00Z","kind":"status","state":"TASK_STATE_WORKING","id":"1","bytes":9,"content":"{\"a\":1}"}` {
			t.Error(got)
		}
		r.give(3, "agent finished", streams.Event{Kind: "message"})
		if got := s.next() + s.next() + s.next(); got != `gap  {"dropped":3}event  {"time":"0001-01-01T00:00:00Z","kind":"message","bytes":0}end  {"code":"STREAM_ENDED","detail":"agent finished"}` {
			t.Error(got)
		}
		<-r.left
	}
}

// TestWatchRefused: nobody watches who may not, what is not there, one too many, or without a record.
func TestWatchRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { everyRole(c); c.Live = Live{Viewers: 1, Buffer: leastBuffer} })
	w.flow.reels = make(chan *reel, 1)
	if got := w.ask("GET", "/api/v1/streams/s-01/events", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer)) }); got.status != http.StatusForbidden {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/streams/none/events", nil); got.status != http.StatusNotFound || !strings.Contains(got.body, "NO_SUCH_STREAM") {
		t.Error(got)
	}
	w.mu.Lock()
	w.unrecorded = true
	w.mu.Unlock()
	if got := w.ask("GET", "/api/v1/streams/s-01/events", nil); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "UNRECORDED") || len(w.flow.reels) != 0 {
		t.Error(got, len(w.flow.reels))
	}
	w.mu.Lock()
	w.unrecorded = false
	w.mu.Unlock()
	s, r := w.watched("s-01", testToken)
	if got := w.ask("GET", "/api/v1/streams/s-02/events", nil); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "admin.live.viewers") {
		t.Error(got)
	}
	s.leave()
	<-r.left // whoever watches no more makes room
	w.flow.mu.Lock()
	w.flow.gone = true
	w.flow.mu.Unlock()
	for got := (answer{}); got.status != http.StatusNotFound; time.Sleep(time.Millisecond) {
		got = w.ask("GET", "/api/v1/streams/s-02/events", nil)
	}
	if e := w.recorded(); e[len(e)-1]["outcome"] != "not found" {
		t.Error(e)
	}
}

// TestWatchEnds: whoever watches does not hold up the end of the gateway.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	w.flow.reels = make(chan *reel, 1)
	s, r := w.watched("s-01", testToken)
	_ = s.next()
	w.console.Close()
	if got := s.next(); got != `end  {"code":"BUSY","detail":"the gateway ends"}` {
		t.Error(got)
	}
	<-r.left
}
