package telemetry

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// maxPending bounds the lines that wait for a slow reader of the log. Past it
// lines are dropped and counted: a stuck log collector must not stop the gateway.
const maxPending = 4 << 20

// linger is how long a line of the access log may wait for others to be written
// with. A write of its own for each would cost more than making the line.
const linger = 10 * time.Millisecond

// sink writes whole log lines, many of the access log with one write. pending and batch are
// two buffers that change places: while one is written, lines go into the other, and
// neither is allocated anew.
type sink struct {
	out     io.Writer
	dropped func() // called for each line that found no room

	mu      sync.Mutex
	pending bytes.Buffer // whole lines not yet handed to out
	closed  bool

	wake    chan struct{} // holds a token while pending may hold lines
	quit    chan struct{} // closed by close
	stopped chan struct{} // closed when run has returned

	writing sync.Mutex   // held around out.Write
	batch   bytes.Buffer // guarded by writing: what is being written
}

// newSink begins to write to out. close ends it.
func newSink(out io.Writer, dropped func()) *sink {
	s := &sink{out: out, dropped: dropped, wake: make(chan struct{}, 1),
		quit: make(chan struct{}), stopped: make(chan struct{})}
	go s.run()
	return s
}

// Write takes one line of the gateway's own messages and returns when it has
// been handed to the operating system: what is said just before a crash is what
// is wanted most. It is the io.Writer of the slog handlers, which pass one
// whole line per call.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.pending.Write(p) // our own messages are few: no bound
	s.mu.Unlock()
	s.flush()
	return len(p), nil
}

// add takes one line of the access log and leaves the write to run.
func (s *sink) add(l *Line) {
	s.mu.Lock()
	full, late := s.pending.Len() > maxPending, s.closed
	if !full {
		l.appendTo(&s.pending)
	}
	s.mu.Unlock()
	if full {
		s.dropped()
	}
	if late { // run is over: a stream that outlived the drain
		s.flush()
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // a token is there already
	}
}

// run writes what add took, until close.
func (s *sink) run() {
	defer close(s.stopped)
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.wake:
		}
		timer.Reset(linger)
		select {
		case <-s.quit:
			return
		case <-timer.C:
			s.flush()
		}
	}
}

// flush writes everything pending. A write error has nowhere to be told: this
// is the place errors are told to.
func (s *sink) flush() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	// Batch is empty here, as writing it has ended with a Reset.
	s.pending, s.batch = s.batch, s.pending
	s.mu.Unlock()
	if s.batch.Len() > 0 {
		_, _ = s.out.Write(s.batch.Bytes())
		s.batch.Reset()
	}
}

// close writes what is pending and ends run. Lines that come later are still
// written, one by one.
func (s *sink) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.mu.Unlock()
	<-s.stopped
	s.flush()
}
