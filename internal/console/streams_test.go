package console

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
)

// flow is Streams of which there are s-00 to s-24, less those that were ended. Each began a
// second before the one behind it, but for two that began together.
type flow struct {
	mu    sync.Mutex
	ended map[string]bool
}

func (f *flow) Open() []streams.OpenStream {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []streams.OpenStream
	for i := 24; i >= 0; i-- {
		if id := fmt.Sprintf("s-%02d", i); !f.ended[id] {
			list = append(list, streams.OpenStream{
				ID: id, Caller: []string{"alice", "bob"}[i%2], Agent: []string{"a-1", "a-2", "a-3"}[i%3], Task: "t-" + id[2:],
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
