package upstream

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// check begins the health checks of an instance, once the fleet runs. The lock is held, or nobody
// else knows the fleet yet.
func (f *fleet) check(i *instance) {
	if f.ctx == nil || f.shut || f.Health.Off || f.o.Card == nil {
		return
	}
	ctx, stop := context.WithCancel(f.ctx)
	i.stop = stop
	f.checks.Go(func() { f.watch(ctx, i) })
}

// watch asks an instance now and then, until ctx ends.
func (f *fleet) watch(ctx context.Context, i *instance) {
	target := f.o.Card
	if f.Health.Path != "" {
		if u, err := target.Parse(f.Health.Path); err == nil {
			target = u
		}
	}
	at := *f.dialer
	at.instance = at.checked(i.address, f.Health.Port)
	at.Timeout = f.Health.Timeout.Std()
	at.Timeout -= at.Timeout / 10 // that a proxy is away is to be known before the whole check is late
	transport := at.pool(1)
	transport.DisableKeepAlives = true // that new connections come about is what is asked
	interval := f.Health.Interval.Std()
	good, bad := 0, 0
	// The first checks of many instances are spread over the interval.
	for wait := rand.N(interval + 1); pause(ctx, wait); wait = interval - interval/10 + rand.N(interval/5+1) { //nolint:gosec // spreads load, no secret
		why, err := f.ask(ctx, transport, target)
		if ctx.Err() != nil {
			return
		}
		if tunnel.Blames(err) {
			continue // nothing was learned of the instance
		}
		if why == "" {
			good, bad = good+1, 0
			if f.Health.Port == 0 {
				f.trouble.looked(true) // where calls go as well
			}
		} else {
			good, bad = 0, bad+1
		}
		f.settle(i, good, bad, why)
	}
}

// settle changes what is thought of an instance after enough checks in a row.
func (f *fleet) settle(i *instance, good, bad int, why string) {
	switch down := i.down.Load(); {
	case down && good >= f.Health.Healthy:
		i.since.Store(time.Now().UnixNano())
		i.down.Store(false)
		if f.o.Log != nil {
			f.o.Log.Info("instance is healthy again", "instance", i.address)
		}
	case !down && bad >= f.Health.Unhealthy:
		i.down.Store(true)
		if f.o.Log != nil {
			f.o.Log.Warn("instance is not healthy", "instance", i.address, "why", why)
		}
	}
}

// ask asks once; the answer is why an instance is not well, and the error where it had none.
//
// Any status below 500 is a sign of life, 401 and 404 included: the check has no credential and
// may be at a wrong path.
func (f *fleet) ask(ctx context.Context, transport *http.Transport, target *url.URL) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, f.Health.Timeout.Std())
	defer cancel()
	// No credentials: whoever answers at the address has shown nothing yet.
	r := (&http.Request{
		Method: http.MethodGet, URL: target, Host: target.Host, Header: http.Header{"Accept": {"application/json"}},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err.Error(), err
	}
	_ = resp.Body.Close() // what it says does not matter
	if resp.StatusCode >= http.StatusInternalServerError {
		return resp.Status, nil
	}
	return "", nil
}

// checked is the address that is checked: another port of the instance's where one is
// configured.
func (d *dialer) checked(address string, port int) string {
	if port == 0 {
		return address
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// pause is over after d; it is false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
