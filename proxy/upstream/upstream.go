// Package upstream reaches agents: one set of connections per agent for every
// binding, the credentials the gateway shows there, and nothing of what is said.
//
// It owns transport settings, outgoing credentials, and the choice among an agent's instances. It
// does not read bodies or write responses, and it never sends a call twice of which something was
// written, unless it is told that the call changes nothing: a send may have had its effect even
// when no answer came. It may import internal/secret, internal/share, internal/tunnel, authn,
// proxy/upstream/discovery, proxy/upstream/http1 and below.
//
// # One call
//
//	RoundTrip   a place within agents[].connections, or ErrBusy
//	  choose    which instance: the one that has the task, the one for the context, else the less busy of two
//	  circuit   open: *Unavailable, nothing is sent
//	  trip      HTTP/1.1 (package http1), HTTP/2 (net/http) or gRPC over HTTP/2
//	  heard     what the outcome says of the instance: latency, ejection, circuit
//	  again     another instance, where nothing can have happened twice
//	Body.Close  the place is free
//
// Instances are found by package discovery, or there is one: wherever the card's URL leads. Calls
// keep the URL, the Host header and the TLS name of the card whichever instance they are dialled
// to.
//
// # How instances come to get no calls
//
//   - down: active checks: a GET of the card without credentials, answered below 500. Until:
//     checks go well again.
//   - ejected: calls that fail in a row, at most half of the instances at a time. Until: a time
//     that doubles.
//   - circuit open: connections that do not come about, late heads, 502 to 504, in a row. Until:
//     one call goes through and decides.
//
// What fails for one caller alone counts for less where others call as well, since a caller may
// know a request that the agent fails at, and must not be able to take the agent from others by
// it.
//
// # Errors
//
// ErrBusy and *Unavailable: nothing was sent. NotSent(err): no byte has reached the agent.
// ErrNotHTTP: an answer came and is not HTTP. Any other error leaves open whether the call had
// its effect. ErrLate is a cause that callers set, never one that is returned.
//
// Credentials are package credentials', whose Set an Upstream embeds. The package exports more
// than twenty names because nine of them are sections of an agent's configuration.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// Upstream is one agent's connections and credentials. It is safe for concurrent use.
type Upstream struct {
	*credentials.Set // that it shows

	dialer   *dialer   // of whatever address
	direct   *instance // wherever the URL says
	fleet    *fleet    // nil where that is the only one
	files    *material // of TLS
	answer   time.Duration
	timeouts map[string]quantity.Duration // of single methods
	calls    atomic.Int64                 // in flight, streams included
	callers  share.Holders                // of those
	most     int64                        // of them
	trouble  trouble
}

// ErrBusy says that as many calls are in flight to the agent as `connections`
// permits. Nothing was sent.
var ErrBusy = errors.New("agents[].connections: as many calls are in flight as the limit permits")

// New prepares an agent's connections. Files named in c are read now, so that a
// missing one is an error of the configuration and not of a call.
func New(c Config, o Options) (*Upstream, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	files, err := newMaterial(c.TLS, o.Log)
	if err != nil {
		return nil, err
	}
	connections := c.Connections
	if connections <= 0 {
		connections = 4096
	}
	egress, err := c.egress(o.Egress)
	if err != nil {
		return nil, err
	}
	connect := orDefault(c.Connect, 5*time.Second)
	d := &dialer{Dialer: net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}, tls: files, egress: egress}
	load := c.Load.settled()
	u := &Upstream{
		files:    files,
		dialer:   d,
		answer:   orDefault(c.Answer, 5*time.Minute),
		timeouts: load.Timeouts,
		most:     int64(connections),
		direct:   newInstance(d, discovery.Instance{}, &load, connections),
	}
	if len(load.Instances) > 0 {
		if u.fleet, err = newFleet(load, d, connections, o); err != nil {
			return nil, err
		}
		u.fleet.trouble = &u.trouble
	}
	u.Set = credentials.New(c.Credentials, credentials.Options{
		Sign: o.Sign, Issuer: o.Issuer, Gateway: o.Gateway, Fetched: o.Fetched, Egress: o.Egress,
	})
	return u, nil
}

// egress is the way to the agent: its own, or the one of all.
func (c Config) egress(general *tunnel.Proxy) (*tunnel.Proxy, error) {
	if c.Egress.IsZero() {
		return general, nil
	}
	own, err := tunnel.New(c.Egress)
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	return own, nil
}

// Connects reports whether there is a connection to an address, host:port, to be had, over
// which nothing is sent.
func (u *Upstream) Connects(ctx context.Context, address string) bool {
	conn, err := u.dialer.connect(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// Timeout is how long an answer may take.
func (u *Upstream) Timeout(method string) time.Duration {
	if d := u.timeouts[method]; d > 0 {
		return d.Std()
	}
	return u.answer
}

// Run finds the agent's instances and checks them until ctx ends. An agent without
// instances needs none of it.
func (u *Upstream) Run(ctx context.Context) {
	if u.fleet != nil {
		u.fleet.run(ctx)
	}
}

// Wait returns once it is known where the agent's instances are, or when ctx ends.
func (u *Upstream) Wait(ctx context.Context) {
	if u.fleet == nil {
		return
	}
	select {
	case <-u.fleet.known:
	case <-ctx.Done():
	}
}

// RoundTrip sends one request, once. Redirects are answers like any other. The one thing that is
// repeated without asking, on a new connection, is a request that an idle connection turned out
// not to take: a GET, which changes nothing, or anything else of which no byte was written. r
// must not have a GetBody: with one net/http, which has some requests, would repeat more. Where
// the agent has several instances another may be asked as well, under the same condition: what h
// calls safe, and anything else of which no byte was written.
//
// A request whose Content-Type is gRPC's goes over HTTP/2 or fails. net/http does
// not know gRPC: the caller sets "Te: trailers", frames the messages, and reads
// the status from the answer's Trailer once its body has ended, or from the
// header where the agent had nothing but a status to say.
//
// A call beyond the limit, or of who has more calls in flight than there are places left,
// is ErrBusy at once: a queue would make every caller
// wait for the slowest answers. One that would go to an agent that has been failing is
// an *Unavailable, likewise. The caller must close the answer's body, and ends the
// request's context with ErrLate as cause when the answer takes too long.
func (u *Upstream) RoundTrip(r *http.Request, h Hint) (*http.Response, Served, error) {
	if !u.enter(h.Caller) {
		return nil, Served{}, ErrBusy
	}
	var (
		resp   *http.Response
		served Served
		err    error
		who    = xxhash.Sum64String(h.Caller)
	)
	if u.fleet != nil {
		resp, served, err = u.fleet.roundTrip(u, r, &h, who)
	} else {
		resp, served, err = u.alone(r, &h)
	}
	u.trouble.note(r, who, resp, err)
	if err != nil {
		u.leave(h.Caller)
		return nil, served, err
	}
	return resp, served, nil
}

// enter counts a caller's call in, if there is a place for it: no caller may have more places
// than are left for others.
//
// The gateway's own calls have no caller, and are bounded by the total alone.
func (u *Upstream) enter(caller string) bool {
	n := u.calls.Add(1)
	if n <= u.most && (caller == "" || u.callers.Take(caller, 1, u.most-n)) {
		return true
	}
	u.calls.Add(-1)
	return false
}

// again counts a call of a caller who has a place in once more.
func (u *Upstream) again(caller string) {
	u.calls.Add(1)
	if caller != "" {
		u.callers.Take(caller, 1, math.MaxInt64)
	}
}

// leave counts a call out.
func (u *Upstream) leave(caller string) {
	if caller != "" {
		u.callers.Give(caller, 1)
	}
	u.calls.Add(-1)
}

// alone sends a request to the agent's only instance.
func (u *Upstream) alone(r *http.Request, h *Hint) (*http.Response, Served, error) {
	c := u.direct.circuit
	now := int64(0) // a closed circuit does not ask for the time
	if c.era.Load()%phases != closed {
		now = time.Now().UnixNano()
	}
	era, ok := c.enter(now)
	if !ok {
		return nil, Served{}, &Unavailable{
			After: max(c.wait(now), time.Second), Why: "agents[].load.breaker: the agent has been failing",
		}
	}
	if h.Trail != nil {
		h.Trail.Begin(r, "")
	}
	resp, err := u.direct.trip(r)
	if what := judge(r, resp, err); what != well || era%phases != closed || c.failing.Load() {
		c.leave(era, time.Now().UnixNano(), what)
	}
	if err != nil {
		return nil, Served{Tries: 1}, err
	}
	resp.Body = &counted{ReadCloser: resp.Body, of: u, caller: h.Caller}
	return resp, Served{Tries: 1}, nil
}

// counted is an answer's body that counts as a call in flight until it is closed.
type counted struct {
	io.ReadCloser
	of       *Upstream
	caller   string
	instance *atomic.Int64 // nil where there is one only
	closed   atomic.Bool
}

// Close may be called more than once: a relay closes bodies to stop reading.
func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.of.leave(c.caller)
		if c.instance != nil {
			c.instance.Add(-1)
		}
	}
	return c.ReadCloser.Close()
}

// Park is that of the body, where it has one.
func (c *counted) Park(resume func()) bool {
	p, ok := c.ReadCloser.(interface{ Park(func()) bool })
	return ok && p.Park(resume)
}

// Close drops idle connections; those in use end with their calls. Tokens that are being
// fetched are given up.
func (u *Upstream) Close() {
	u.direct.idle()
	if u.fleet != nil {
		u.fleet.idle()
	}
	u.Set.Close()
}

// Client fetches documents from the agent (its card) over the same connections
// and with the gateway's own credentials. It follows redirects only within the
// origin that was asked.
func (u *Upstream) Client() *http.Client {
	return &http.Client{
		Transport: authorized{u},
		Timeout:   30 * time.Second,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
				return fmt.Errorf("redirect to another origin, %s", r.URL.Host)
			}
			if len(via) > 5 {
				return fmt.Errorf("more than %d redirects", len(via)-1)
			}
			return nil
		},
	}
}

// authorized adds the gateway's credentials to requests of its own.
type authorized struct{ u *Upstream }

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := a.u.Authorize(r.Context(), r.Header, nil); err != nil {
		return nil, err
	}
	return a.u.direct.json.RoundTrip(r)
}
