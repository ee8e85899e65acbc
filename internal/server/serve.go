package server

import (
	"io"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// serve is around every request: it counts, adds HSTS, paces the body, and
// sends away those who came on a connection too many, on one that would not be
// let in any more, or on one that was opened for another host.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.inflight.Add(1)
	defer s.inflight.Add(-1)
	c, _ := r.Context().Value(connKey{}).(*conn)
	if c != nil && c.tls != nil {
		r.TLS = c.tls
	}
	if r.TLS != nil {
		w.Header()["Strict-Transport-Security"] = s.hsts
	}
	if c != nil {
		s.came(c)
	}
	if c != nil && c.shed {
		w.Header().Set("Connection", "close") // on HTTP/2 it becomes a GOAWAY
		e := wire.Errorf(wire.Unavailable, "Too many connections")
		e.Header = http.Header{"Retry-After": {"1"}}
		s.turnAway(w, r, e)
		return
	}
	if s.retiring.Load() {
		w.Header().Set("Connection", "close")
	}
	if !s.admits(r.TLS) {
		w.Header().Set("Connection", "close") // a new one is judged at its handshake
		s.turnAway(w, r, wire.Errorf(wire.Misdirected, "This connection's client certificate is not accepted"))
		return
	}
	if !s.addressed(r) {
		s.turnAway(w, r, wire.Errorf(wire.Misdirected, "This connection was opened for another host"))
		return
	}
	if r.ContentLength != 0 {
		r.Body = s.pace(w, r)
	}
	s.handler.ServeHTTP(w, r)
	if c != nil {
		c.answered(r)
	}
}

// turnAway refuses a request that the handler never gets.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	if cors := s.live.Load().cors; cors != nil {
		cors.Answer(w.Header(), r.Header["Origin"], nil)
	}
	failure.Write(w, nil, e)
}

// pacedBody sees to it that a request body keeps coming, against slow bodies, as slowloris sends heads (L21): in every span of
// the grace period, the rate's worth of bytes, or the rest of the body. It sets
// the connection's read deadline and takes it away at the end of the body, so
// that it never touches a stream that lasts.
//
// The first deadline is set before the handler runs, who may not read the body at all.
type pacedBody struct {
	io.ReadCloser
	writer http.ResponseWriter
	grace  time.Duration
	quota  int64     // bytes per grace period
	since  time.Time // when the current period began
	got    int64     // bytes in the current period
	begun  bool      // Read was called
	over   bool      // the body has ended
}

func (s *Server) pace(w http.ResponseWriter, r *http.Request) *pacedBody {
	live := s.live.Load()
	grace := live.timeouts.Body.Std()
	b := &pacedBody{ReadCloser: r.Body, writer: w, grace: grace, quota: quota(live.limits.BodyRate, grace)}
	if r.ProtoMajor == 1 {
		b.arm(time.Now())
	}
	return b
}

// quota is what rate makes of grace, at least one byte.
func quota[N ~int64](rate N, grace time.Duration) int64 {
	return max(1, int64(float64(rate)*grace.Seconds()))
}

// Read returns os.ErrDeadlineExceeded when the client was too slow.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.over {
		return b.ReadCloser.Read(p)
	}
	if !b.begun {
		// What came before was the handler's time, not the client's, who may be
		// waiting for 100 Continue.
		b.begun = true
		if now := time.Now(); now.Sub(b.since) > b.grace/4 {
			b.arm(now)
		}
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.over = true
		if err == io.EOF { // else somebody may still try to read the rest, and must not wait
			b.deadline(time.Time{})
		}
		return n, err
	}
	if b.got += int64(n); b.got >= b.quota {
		// Moving the deadline costs more than a small read does.
		if now := time.Now(); now.Sub(b.since) > b.grace/4 {
			b.arm(now)
		}
	}
	return n, nil
}

func (b *pacedBody) arm(now time.Time) {
	b.since, b.got = now, 0
	b.deadline(now.Add(b.grace))
}

// deadline ignores the one error there is: a writer that a test made up and
// that has no deadlines.
func (b *pacedBody) deadline(t time.Time) {
	_ = http.NewResponseController(b.writer).SetReadDeadline(t)
}
