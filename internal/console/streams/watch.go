package streams

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/viewer"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// Watcher is somebody who watches a stream, which waits for no watcher.
type Watcher interface {
	// Wake has something once there is more to take.
	Wake() <-chan struct{}
	// Take takes what there is, the oldest first: how many events were dropped before it, and why
	// there is no more behind it, "" while the stream is open.
	Take() (dropped int, events []Event, end string)
	// Leave has them watch no more.
	Leave()
}

// Watching is how streams may be watched.
type Watching struct {
	Viewers  int                      // at the same time: admin.live.viewers
	Buffer   int                      // bytes that wait for each of them: admin.live.buffer
	Content  bool                     // what is captured may be shown: admin.content
	Admitted func(*http.Request) bool // whether who watches may still do so
}

// Event is an event of a stream, as its client was given it.
type Event struct {
	Time  time.Time `json:"time"`
	Kind  string    `json:"kind"`
	State string    `json:"state,omitzero"`
	ID    string    `json:"id,omitzero"`
	Bytes int       `json:"bytes"`
	// Content is what a rule of telemetry.audit.content would keep of it, "" where that is not shown.
	Content string `json:"content,omitzero"`
	Cut     bool   `json:"cut,omitzero"`
	Fault   string `json:"fault,omitzero"`
}

// opening is what a watcher is told first.
type opening struct {
	Stream  OpenStream `json:"stream"`
	Content bool       `json:"content"`
	Why     string     `json:"why,omitzero"`
}

// ends is the code of the end of what is watched: the stream has ended.
const ends = "STREAM_ENDED"

// watch has the places of those who watch. Close ends what they see: a request that is open for
// hours would hold up the end of the gateway.
type watch struct {
	Watching

	mu    sync.Mutex
	taken int
	over  chan struct{}
	ended bool
}

// enter takes a place; the error says that there is none.
func (w *watch) enter() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.taken >= w.Viewers {
		return api.Busy.Refuse(fmt.Sprintf("%d streams are watched already (admin.live.viewers)", w.taken))
	}
	w.taken++
	return nil
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken--
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.over)
	}
}

// why says which settings keep content away; "" where it is shown.
func (w *watch) why(st *OpenStream) string {
	const off, uncaptured = "admin.content is false", "no rule of telemetry.audit.content.rules captures the answer of this call (capture: response or both)"
	switch {
	case !w.Content && !st.Captured:
		return "Content is not shown: " + off + ", and " + uncaptured + "."
	case !w.Content:
		return "Content is not shown: " + off + "."
	case !st.Captured:
		return "Content is not shown: " + uncaptured + "."
	}
	return ""
}

// watchStream is on record before it begins: an operator who reads along is to be seen by whoever
// reads the log. Nothing of the stream is shown where that cannot be written.
func (s *screen) watchStream(c *api.Call) (any, error) {
	id := c.PathValue("id")
	missing := noStream.Refuse("no such stream is open at this gateway")
	all := s.open.Open()
	at := slices.IndexFunc(all, func(st OpenStream) bool { return st.ID == id })
	if at < 0 {
		return nil, missing
	}
	if err := s.watch.enter(); err != nil {
		return nil, err
	}
	st := all[at]
	first := opening{Stream: st, Why: s.watch.why(&st)}
	first.Content = first.Why == ""
	attrs := map[string]string{"id": id, "principal": st.Caller, "issuer": st.Issuer, "agent": st.Agent, "content": "hidden"}
	if first.Content {
		attrs["content"] = "shown"
	}
	if st.Task != "" {
		attrs["task_id"] = st.Task
	}
	var w Watcher
	err := c.Change("stream.watched", attrs, missing, func(context.Context) (bool, error) {
		w = s.open.Follow(id, s.watch.Buffer, first.Content)
		return w != nil, nil
	})
	if err != nil {
		s.watch.leave()
		return nil, err
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer s.watch.leave()
		defer w.Leave()
		s.show(rw, r, w, first)
	}), nil
}

// show writes what is watched until the stream ends, the viewer goes, or the gateway ends.
func (s *screen) show(rw http.ResponseWriter, r *http.Request, w Watcher, first opening) {
	text, _ := json.Marshal(first) // it has nothing that cannot be written
	shown := viewer.Feed{
		First: sse.Append(nil, sse.Event{Name: "open", Data: text}), Wake: w.Wake(), Take: func() ([]byte, bool) { return take(w) },
		Closing: s.watch.over, Admitted: s.watch.Admitted,
	}
	shown.ServeHTTP(rw, r)
}

// take is what there is to tell a watcher, as events, and whether that is all.
func take(w Watcher) (text []byte, over bool) {
	dropped, events, end := w.Take()
	if dropped > 0 {
		text = viewer.AppendGap(text, uint64(dropped))
	}
	for i := range events {
		data, _ := json.Marshal(&events[i])
		text = sse.Append(text, sse.Event{Name: "event", Data: data})
	}
	if end != "" {
		return viewer.Ended{Code: ends, Detail: end}.Append(text), true
	}
	return text, false
}
