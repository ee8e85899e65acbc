package upstream

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/http1"
)

// instance is one place where an agent answers, and how it has been doing. An agent
// without instances is one that has no address: it is wherever the URL says.
type instance struct {
	address string // host or host:port; "" for the URL's
	weight  float64
	hash    uint64
	json    *http1.Pool
	grpc    *http.Transport // the same over HTTP/2 alone
	circuit *circuit
	calls   atomic.Int64 // in flight, streams included

	// Smoothed time until the head of an answer, and when it was last measured, in
	// nanoseconds.
	latency, measured atomic.Int64

	// All in Unix nanoseconds; 0 for never.
	since   atomic.Int64 // when it came, or came back
	ejected atomic.Int64 // until when it is out

	row     row
	callers callers
	times   int // ejected in a row; guarded by the fleet's lock

	ejections atomic.Int64 // since it came

	down atomic.Bool        // its checks say so
	stop context.CancelFunc // ends its checks
}

// newInstance makes an instance that was found, or the one of an agent without instances.
// Each has connections of its own, so that one that hangs does not keep others' from being used.
func newInstance(d *dialer, found discovery.Instance, l *Load, connections int) *instance {
	at := *d
	at.instance = found.Address
	return &instance{
		address: found.Address, weight: float64(max(found.Weight, 1)), hash: xxhash.Sum64String(found.Address),
		json: at.lines(connections), grpc: at.poolGRPC(connections), circuit: newCircuit(l.Breaker),
		stop: func() {},
	}
}

// well reports whether the instance would get the next call, if it has room for it.
func (i *instance) well(now int64) bool {
	return !i.down.Load() && i.ejected.Load() <= now && i.circuit.admits(now)
}

// trip sends a request to the instance, once.
func (i *instance) trip(r *http.Request) (*http.Response, error) {
	if isGRPC(r.Header) {
		return i.grpc.RoundTrip(r)
	}
	return i.json.RoundTrip(r)
}

// idle drops connections that nobody uses.
func (i *instance) idle() {
	i.json.CloseIdleConnections()
	i.grpc.CloseIdleConnections()
}

// judge says of an instance what an answer, or its absence, does.
func judge(r *http.Request, resp *http.Response, err error) outcome {
	switch ctx := r.Context(); {
	case err == nil && fails(resp):
		return failed
	case err == nil:
		return well
	case ctx.Err() != nil && context.Cause(ctx) != ErrLate: //nolint:errorlint // a cause is given as it is
		return unsaid
	case tunnel.Blames(err):
		return unsaid
	}
	return failed
}

// fails reports an answer that says that nobody is there to answer. Errors of A2A and
// a plain 500 are answers: an agent that has a bug in one call is there for others.
func fails(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return meaning(resp) == http.StatusServiceUnavailable
}

// meaning is the status of an answer, 0 for none. gRPC says it in a code of its own, where no
// message is before it in the head.
func meaning(resp *http.Response) int {
	if resp == nil {
		return 0
	}
	if code := resp.Header["Grpc-Status"]; resp.StatusCode == http.StatusOK && len(code) == 1 {
		switch code[0] {
		case "2", "13", "15": // UNKNOWN, INTERNAL, DATA_LOSS
			return http.StatusInternalServerError
		case "4": // DEADLINE_EXCEEDED
			return http.StatusGatewayTimeout
		case "12": // UNIMPLEMENTED
			return http.StatusNotImplemented
		case "14": // UNAVAILABLE
			return http.StatusServiceUnavailable
		}
	}
	return resp.StatusCode
}

// measure takes over how long the head of an answer took. A stream's says nothing: it
// comes before any work is done.
//
// It is an exponentially weighted average with the weight 1/8 for the newest, as TCP smooths
// round-trip times (RFC 6298).
func (i *instance) measure(resp *http.Response, start, now int64) {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return
	}
	took := now - start
	if old := i.latency.Load(); old > 0 && now-i.measured.Load() < int64(memory) {
		took = old + (took-old)/8
	}
	i.latency.Store(max(took, 1)) // of two at the same time one is lost, which does not matter
	i.measured.Store(now)
}

// memory is how long a latency counts. An instance that was slow and got no calls for
// that long is compared by calls in flight alone, or it would never get any again.
const memory = 10 * time.Second

// warm is the share of calls that an instance is ready for: 1 but for a while after it
// came, or came back.
func (i *instance) warm(now int64, slow time.Duration) float64 {
	from := max(i.since.Load(), i.ejected.Load())
	if from == 0 || now-from >= int64(slow) {
		return 1
	}
	return max(0.1, float64(now-from)/float64(slow))
}

// dialAt is address with the instance in its place, as far as it says.
func (d *dialer) dialAt(address string) string {
	if d.instance == "" {
		return address
	}
	if _, _, err := net.SplitHostPort(d.instance); err == nil {
		return d.instance
	}
	_, port, _ := net.SplitHostPort(address)
	return net.JoinHostPort(strings.Trim(d.instance, "[]"), cmp.Or(port, "0"))
}
