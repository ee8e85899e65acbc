package ssetest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
)

// TestRead has what httpx-sse 0.4 makes of these streams.
func TestRead(t *testing.T) {
	t.Parallel()
	event := func(id, data string) ssetest.Event { return ssetest.Event{ID: id, Data: data, Retry: -1} }
	for in, want := range map[string][]ssetest.Event{
		"data: a\n\n":                               {event("", "a")},
		"data:a\r\n\r\ndata: b\r\rdata: c":          {event("", "a"), event("", "b")},
		"\n\n: x\n\ndata: a\n\n":                    {event("", "a")},
		"id: 1\ndata: a\n\n: x\n\n":                 {event("1", "a"), event("1", "")},
		"id: 1\ndata: a\n\n: x\ndata: b\n":          {event("1", "a")},
		"id: 1\ndata: a\n\n\n":                      {event("1", "a"), event("1", "")},
		"id: 1\ndata: a\n\nid:\ndata: b\n\n: x\n\n": {event("1", "a"), event("", "b")},
		"id: a\x00b\ndata: a\n\n\n":                 {event("", "a")},
		"retry: 10\n\nretry: soon\n\n":              {{Retry: 10}},
		"event: ping\n\ndata: a\ndata: b\n\n":       {{Name: "ping", Retry: -1}, event("", "a\nb")},
		"data\n\nDATA: a\n\n":                       {event("", "")},
	} {
		if diff := cmp.Diff(want, ssetest.Read(in)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
		var got []ssetest.Event
		p := ssetest.Parser{Got: func(e ssetest.Event) { got = append(got, e) }}
		for i := range in {
			_, _ = p.Write([]byte{in[i]})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q byte by byte (-want +got):\n%s", in, diff)
		}
	}
}

// failures is a test that only counts what it is failed for.
type failures struct {
	testing.TB
	n       int
	cleanup []func()
}

func (f *failures) Helper()           {}
func (f *failures) Error(...any)      { f.n++ }
func (f *failures) Cleanup(f2 func()) { f.cleanup = append(f.cleanup, f2) }

// TestWatch: a test fails for what a stream has that is no document, and for nothing else.
func TestWatch(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"id: 1\ndata: {}\n\n: x\ndata: {}\n\n: x\n":           0,
		"id: 1\ndata: {}\n\n: x\n\ndata: {}\n\n":              1,
		"retry: 1\n\nevent: a\n\ndata: {\n\ndata: not\n\n":    4,
		"retry: 1\ndata: {\ndata: \"a\":1}\n\n: x\n\ndata: {": 0,
	} {
		for media, counts := range map[string]bool{"text/event-stream;charset=utf-8": true, "text/plain": false} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", media)
				_, _ = io.WriteString(w, body)
			}))
			f := &failures{TB: t}
			client := &http.Client{Transport: ssetest.Watch(f, server.Client().Transport)}
			resp, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			server.Close()
			for _, c := range f.cleanup {
				c()
			}
			if err != nil || string(got) != body {
				t.Errorf("%q became %q, %v", body, got, err)
			}
			if counts && f.n != want || !counts && f.n != 0 {
				t.Errorf("%s %q: failed for %d events, want %d", media, body, f.n, want)
			}
		}
	}
}
