package operator

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// sight is what was seen of a call.
type sight struct {
	sent, received []byte // on the wire, inside of TLS
	status         int
	header         http.Header
	trailer        http.Header
	body           []byte
	pieces         pieces // of the body
	ended          string
	err            error
	took           time.Duration
}

// How a trial ended, unless it was for its time.
const (
	endedWhole  = "complete"
	endedLong   = "admin.try.answer"
	endedFailed = "failed"
)

// trialHeads is how much of an answer's head is read.
const trialHeads = 64 << 10

// send makes a request at the public listener, on a connection of its own. An answer that
// is an error is an answer. The connection is new for each trial and closed after it, so
// that what was kept of it is this call alone. b bounds the body: a stream that goes on
// for ever ends there, or with the deadline of the request's context. watch is told of the
// request once it was written, and never after the answer has begun.
func (t Trials) send(c *trial, r *http.Request, b trials.Bounds, watch func(trials.Event)) (seen sight) {
	began := time.Now()
	seen.pieces = pieces{call: c, watch: watch}
	// The tap counts the whole answer, its head included, while the bound is about the body.
	tap := tap{most: int(b.Answer) + trialHeads}
	sent := sync.OnceFunc(func() {
		text, _ := tap.taken()
		if c.side.Binding == wire.GRPC {
			text = c.describeSent(r)
		}
		if len(text) > 0 { // else there was no connection
			watch(trials.Event{Name: "sent", Data: trials.Sent{Sent: c.clean(text), Command: c.clean([]byte(c.command(r)))}})
		}
	})
	tap.wrote = func(text []byte) {
		if head := bytes.Index(text, []byte("\r\n\r\n")); head >= 0 && len(text) >= head+len("\r\n\r\n")+len(c.body) {
			sent()
		}
	}
	if c.side.Binding == wire.GRPC { // of which no tap sees the bytes
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }}))
	}
	transport, end := t.roundTripper(c, &tap)
	defer func() {
		end()
		seen.sent, seen.received = tap.taken()
		seen.took = time.Since(began)
	}()
	resp, err := transport.RoundTrip(r)
	sent() // before anything else is said, even where the answer came before all was written
	if err != nil {
		seen.ended, seen.err = failedOr(r.Context(), b, err)
		return seen
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	seen.status, seen.header = resp.StatusCode, resp.Header
	watch(trials.Event{Name: "head", Data: trials.Head{Status: seen.status, Request: seen.header.Get("X-Request-Id"), Active: active(seen.header)}})
	seen.read(resp, r, b, began)
	return seen
}

// read takes the answer's body, up to its end or a bound.
func (s *sight) read(resp *http.Response, r *http.Request, b trials.Bounds, began time.Time) {
	defer s.pieces.end()
	for buf := make([]byte, 32<<10); ; {
		n, err := resp.Body.Read(buf)
		// What is beyond the bound is read with the rest of the buffer and dropped.
		n = min(n, int(b.Answer)-len(s.body))
		if n > 0 {
			s.body = append(s.body, buf[:n]...)
			s.pieces.add(time.Since(began), buf[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			s.ended, s.trailer = endedWhole, resp.Trailer
			return
		case err != nil:
			s.ended, s.err = failedOr(r.Context(), b, err)
			return
		case len(s.body) >= int(b.Answer):
			s.ended = endedLong
			return
		}
	}
}

// failedOr says why there is no more: the time is over, or something went wrong. url.Error
// is unwrapped: it repeats the URL, which the operator has in front of them.
func failedOr(ctx context.Context, b trials.Bounds, err error) (ended string, why error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return b.TimeKey, nil
	}
	if inner := (&url.Error{}); errors.As(err, &inner) {
		err = inner.Err
	}
	return endedFailed, err
}

// dial connects to the public listener, whatever address was asked for, and knows it by the
// certificates that it serves: its name may lead elsewhere from here. What passes goes
// through a tap, where there is one. The public name may lead to a load balancer, or
// nowhere, from within a cluster. TLS is spoken with that name (SNI), so that the listener
// chooses the certificate for it; the chain is not verified, since the CA may be a private
// one, but the certificate has to be one that this listener serves (own).
func (t Trials) dial(tap *tap, protocol string, secure bool) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		at, err := url.Parse(t.Server.URL())
		if err != nil {
			return nil, err
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
		if err != nil {
			return nil, err
		}
		if at.Scheme == "https" {
			name, _, _ := net.SplitHostPort(address)
			inside := tls.Client(conn, &tls.Config{
				ServerName: name, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12,
				InsecureSkipVerify: true, //nolint:gosec // the certificate has to be one of the gateway's own
				VerifyConnection:   t.own,
			})
			if err := inside.HandshakeContext(ctx); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			conn = inside
		}
		if tap == nil {
			return conn, nil
		}
		tap.Conn = conn
		return tap, nil
	}
}

// own asks whether a connection is to this gateway. It is called when the handshake has
// proved that the other side has the certificate's key, in resumed sessions too, which
// VerifyPeerCertificate is not.
func (t Trials) own(state tls.ConnectionState) error {
	if len(state.PeerCertificates) > 0 && slices.ContainsFunc(t.Server.Leaves(), func(c *x509.Certificate) bool {
		return c.Equal(state.PeerCertificates[0])
	}) {
		return nil
	}
	return errNoTLS
}

// tap is a connection that keeps what passes; of what it receives, up to a size.
type tap struct {
	net.Conn

	most  int
	wrote func([]byte) // is told of all that was sent until then

	// Held while the two texts are used: the transport writes in a goroutine of its own.
	mu             sync.Mutex
	sent, received []byte
}

// Read implements net.Conn. What was received beyond the bound is passed on and not kept.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.received = append(t.received, b[:max(0, min(n, t.most-len(t.received)))]...)
	return n, err
}

// Write implements net.Conn. All that is sent is kept: its size is the operator's own
// doing.
func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.sent = append(t.sent, b...) // before it is written: the answer may come before Write returns
	all := t.sent                 // what follows is written behind it
	t.mu.Unlock()
	n, err := t.Conn.Write(b)
	if err == nil {
		t.wrote(all)
	}
	return n, err
}

// taken is what has passed until now.
func (t *tap) taken() (sent, received []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.sent), bytes.Clone(t.received)
}
