package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// hub is a hub of its own for a test, which ends it.
func hub(t testing.TB, change func(*stream.HubOptions)) *stream.Hub {
	t.Helper()
	o := stream.HubOptions{Limits: limits(), Replica: "one"}
	if change != nil {
		change(&o)
	}
	h := stream.NewHub(o)
	t.Cleanup(h.Close)
	return h
}

// judge keeps every event; "end" is the last, "rest" waits for the caller, "bad" is
// refused.
func judge(e stream.Event) ([]stream.Entry, error) {
	text := string(e.Data)
	if text == "bad" {
		return nil, errRefused
	}
	return []stream.Entry{{Name: e.Name, Data: e.Data, Last: text == "end", Rest: text == "rest"}}, nil
}

// agent is a source that a test writes.
type agent struct {
	t  testing.TB
	to *io.PipeWriter
}

func opened(t testing.TB) (*agent, stream.Opened) {
	from, to := io.Pipe()
	return &agent{t, to}, stream.Opened{Body: from, Judge: judge, Form: "form"}
}

func (a *agent) say(texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		if _, err := fmt.Fprintf(a.to, "data: %s\n\n", text); err != nil {
			a.t.Errorf("%s: nobody reads: %v", text, err)
		}
	}
	synctest.Wait()
}

func (a *agent) ends()             { _ = a.to.Close(); synctest.Wait() }
func (a *agent) breaks()           { _ = a.to.CloseWithError(errors.New("reset")); synctest.Wait() }
func (a *agent) isStopped() bool   { _, err := a.to.Write([]byte(":\n\n")); return err != nil }
func isDone(c *stream.Cursor) bool { _, err := next(c); return errors.Is(err, io.EOF) }

// next is what a client has or gets within a second.
func next(c *stream.Cursor) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	e, err := c.Next(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", e.Number, e.Data), nil
}

// wants checks what comes next: entries by number and text, then perhaps an error.
func wants(t testing.TB, c *stream.Cursor, texts string, err error) {
	t.Helper()
	for _, want := range strings.Split(texts, ", ") {
		if want == "" {
			continue
		}
		if got, err := next(c); got != want || err != nil {
			t.Fatalf("%q and %v, want %q", got, err, want)
		}
	}
	if err == nil {
		return
	}
	if got, fault := next(c); !errors.Is(fault, err) {
		t.Fatalf("%q and %v, want %v", got, fault, err)
	}
}

func bind(t testing.TB, f *stream.Feed, task string, want bool) {
	t.Helper()
	bound, err := f.Bind(t.Context(), task)
	if err != nil || bound != want {
		t.Fatalf("bound: %v, %v", bound, err)
	}
}

func find(t testing.TB, h *stream.Hub, task string) *stream.Feed {
	t.Helper()
	f, err := h.Find(t.Context(), task)
	if err != nil || f == nil {
		t.Fatalf("%v, %v", f, err)
	}
	return f
}

func cursor(t testing.TB, f *stream.Feed, after uint64) *stream.Cursor {
	t.Helper()
	c, err := f.Cursor(after)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lasts(d time.Duration) *secret.Duration { s := secret.Duration(d); return &s }

// TestFeed: a task's events go to all who follow it, from where they want.
func TestFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, o := opened(t)
		f := h.Open(o)
		first := cursor(t, f, 0)
		a.say("a")
		wants(t, first, "0 a", nil)
		bind(t, f, "task", true)
		if n := first.Number(); n != 1 {
			t.Errorf("the first entry is number %d afterwards", n)
		}
		a.say("b", "c")
		second := cursor(t, find(t, h, "task"), 1)
		third := find(t, h, "task").Tip()
		a.say("end")
		a.ends()
		wants(t, first, "2 b, 3 c, 4 end", io.EOF)
		wants(t, second, "2 b, 3 c, 4 end", io.EOF)
		wants(t, third, "4 end", io.EOF)
		for _, after := range []uint64{5, 1 << 60} {
			if _, err := f.Cursor(after); !errors.Is(err, stream.ErrGap) {
				t.Errorf("after %d: %v", after, err)
			}
		}
		if from, entries := f.Entries(); from != 1 || len(entries) != 4 || entries[3].Number != 4 || !entries[3].Last {
			t.Errorf("%d, %+v", from, entries)
		}
	})
}
