package server

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		connections, descriptors, permitted int
		want                                room
	}{
		{16384, 0, 0, room{16384, 64, "connections"}}, // a system that does not say
		{16384, 0, 1 << 20, room{16384, 64, "connections"}},
		{16384, 0, 1024, room{448, 64, "descriptors"}},
		{16384, 0, 300, room{88, 59, "descriptors"}},
		{16384, 300, 1 << 20, room{88, 59, "descriptors"}},
		{16384, 1 << 20, 300, room{88, 59, "descriptors"}}, // more than there are
		{50, 0, 300, room{50, 64, "connections"}},
		{16384, 0, 10, room{1, 1, "descriptors"}},
	} {
		l := Limits{Connections: tt.connections, Descriptors: tt.descriptors}
		got := l.room(tt.permitted)
		if got != tt.want {
			t.Errorf("%d connections, %d of %d descriptors: %+v, want %+v",
				tt.connections, tt.descriptors, tt.permitted, got, tt.want)
		}
	}
}

// TestR07_Calls: as many as may be, and another one when one has left.
func TestR07_Calls(t *testing.T) {
	t.Parallel()
	var l Load
	for range 2 {
		if err := l.Enter(2); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Enter(2); !errors.Is(err, Overload("requests")) {
		t.Errorf("a third call: %v", err)
	}
	l.Leave()
	if err := l.Enter(2); err != nil {
		t.Errorf("after one has left: %v", err)
	}
}

// TestR07_Memory: calls are refused above the limit, and until 5 % of it are free again.
func TestR07_Memory(t *testing.T) {
	t.Parallel()
	var l Load
	for _, step := range []struct {
		used, limit int64
		refused     bool
	}{
		{100, 0, false}, {90, 100, false}, {100, 100, false}, {101, 100, true}, {96, 100, true}, {95, 100, true},
		{94, 100, false}, {99, 100, false}, {200, 100, true}, {200, 0, false},
	} {
		l.weigh(step.used, step.limit)
		err := l.Enter(1)
		if (err != nil) != step.refused || step.refused && !errors.Is(err, Overload("memory")) {
			t.Errorf("%d of %d: %v", step.used, step.limit, err)
		}
		if err == nil {
			l.Leave()
		}
	}
}

// TestMemoryIsMeasured holds what is measured to what the test keeps.
func TestMemoryIsMeasured(t *testing.T) {
	m := newMeasure()
	read := func() int64 {
		runtime.GC()
		used, _ := m.read()
		return used
	}
	before := read()
	const size = 64 << 20
	kept := make([]byte, size)
	if with := read() - before; with < size/2 {
		t.Errorf("%d bytes more with %d kept", with, size)
	}
	runtime.KeepAlive(kept)
	if after := read() - before; after > size/2 {
		t.Errorf("%d bytes more after they were let go", after)
	}
}

// TestWatchRecovers: what is short only by an old collection does not stay so.
func TestWatchRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Load
		done := make(chan struct{})
		var limit, seen atomic.Int64
		limit.Store(1)
		go l.Watch(done, limit.Load, func(_, most int64) { seen.Store(most) })
		time.Sleep(2 * measureEvery)
		if err := l.Enter(1); !errors.Is(err, Overload("memory")) || seen.Load() != 1 {
			t.Errorf("with a limit of %d: %v", seen.Load(), err)
		}
		time.Sleep(3 * collectAfter)
		limit.Store(1 << 50)
		time.Sleep(2 * measureEvery)
		if err := l.Enter(1); err != nil {
			t.Errorf("with a large limit: %v", err)
		}
		close(done)
	})
}

// TestR16_SilentConnections: those above the limit who ask for nothing make room for
// others who do.
func TestR16_SilentConnections(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Limits.Connections = 1
	s := start(t, cfg, empty(), func(s *Server) { s.told = 50 * time.Millisecond })
	dial(t, s)
	eventually(t, "one connection", func() bool { return s.Connections() == 1 })
	if got := ended(t, dial(t, s)); got != "" {
		t.Errorf("answer %q without a request", got)
	}
	c := dial(t, s)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if got := ended(t, c); got != "" && !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("answer %q", got)
	}
}
