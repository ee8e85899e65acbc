package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

func duration(d time.Duration) quantity.Duration { return quantity.Duration(d) }

// eventually waits for what happens by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestEjection: an instance that fails calls in a row gets none for a while, then some
// again; another that does may be left alone no more, or nobody would be left.
func TestEjection(t *testing.T) {
	t.Parallel()
	all := places(t, 3)
	ejections := 0
	u := newUpstream(t, among(all, func(l *Load) {
		l.Breaker.Off, l.Ejection.For, l.SlowStart = true, duration(time.Minute), duration(time.Millisecond)
	}))
	u.fleet.o.Ejected = func(string) { ejections++ }
	all[0].status(503)
	for ejections == 0 {
		_, _, err := offer(t.Context(), u, Hint{})
		must(t, err)
	}
	if n := all[0].calls.Load(); n != 5 {
		t.Errorf("ejected after %d failures", n)
	}
	all[1].status(503)
	for range 20 {
		_, served, err := offer(t.Context(), u, Hint{})
		must(t, err)
		if served.Instance == all[0].address() {
			t.Error("one that is ejected had a call")
		}
	}
	if ejections != 1 || u.State().Healthy != 2 {
		t.Error("more than half of the instances are ejected")
	}
	all[0].do.Store(nil)
	all[1].do.Store(nil)
	before := all[0].calls.Load()
	out := u.fleet.set.Load().names[all[0].address()]
	out.ejected.Add(-int64(time.Minute - 300*time.Millisecond)) // its time is nearly over
	eventually(t, "it has not come back", func() bool {
		_, _, err := offer(t.Context(), u, Hint{})
		must(t, err)
		return all[0].calls.Load() > before && u.State().Healthy == 3
	})
}

// TestEjectionsGetLonger: twice as long each time, up to ten times, and as long as the
// first after it has been in for as long as it was out.
func TestEjectionsGetLonger(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, among(places(t, 2), nil))
	f, i := u.fleet, u.fleet.set.Load().all[0]
	now := second
	for _, want := range []int64{30, 60, 120, 240, 300, 300} {
		f.eject(i, now)
		if got := (i.ejected.Load() - now) / second; got != want {
			t.Errorf("out for %d s, want %d", got, want)
		}
		now = i.ejected.Load() + second
	}
	now += 301 * second
	if f.eject(i, now); i.ejected.Load()-now != 30*second {
		t.Errorf("out for %d after a long time in", (i.ejected.Load()-now)/second)
	}
	other := f.set.Load().all[1]
	if f.eject(other, now); other.ejected.Load() != 0 {
		t.Error("both of two are out")
	}
}

// TestSlowStart: an instance that is back gets a share that grows.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, among(places(t, 2), nil))
	f, now := u.fleet, time.Now().UnixNano()
	s := f.set.Load()
	share := func(age time.Duration) float64 {
		s.all[0].since.Store(now - int64(age))
		n := 0
		for range 4000 {
			if f.least(s, nil, now) == s.all[0] {
				n++
			}
		}
		return float64(n) / 4000
	}
	first, half, whole := share(0), share(5*time.Second), share(10*time.Second)
	if first > 0.1 || half < 0.15 || half > 0.35 || whole < 0.4 || whole > 0.6 {
		t.Errorf("shares %v, %v, %v", first, half, whole)
	}
}

// TestHealth: an instance that goes away and comes back, and one that cannot make up
// its mind.
func TestHealth(t *testing.T) {
	t.Parallel()
	all := places(t, 2)
	card, err := url.Parse("http://agent.invalid/.well-known/agent-card.json")
	must(t, err)
	asked := make(chan string, 1)
	all[0].will(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.Method + " " + r.Host + r.URL.Path + r.Header.Get("Authorization"):
		default:
		}
	})
	c := among(all, func(l *Load) {
		l.Health.Interval, l.SlowStart = duration(5*time.Millisecond), duration(time.Millisecond)
	})
	c.Credentials = []credentials.Credential{{Value: secret.New("Bearer k")}}
	u, err := New(c, Options{Card: card})
	must(t, err)
	t.Cleanup(u.Close)
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { u.Run(ctx) })
	defer run.Wait()
	defer stop()
	u.Wait(ctx)
	if got := <-asked; got != "GET agent.invalid/.well-known/agent-card.json" {
		t.Errorf("asked for %s", got)
	}
	i := u.fleet.set.Load().names[all[0].address()]
	all[0].status(500)
	eventually(t, "it is not seen to be down", i.down.Load)
	if got := u.State(); got != (State{Instances: 2, Healthy: 1}) {
		t.Error(got)
	}
	for range 20 {
		_, served, err := offer(t.Context(), u, Hint{Context: "any"})
		must(t, err)
		if served.Instance == i.address {
			t.Error("it had a call")
		}
	}
	all[0].status(404) // somebody is there
	eventually(t, "it is not seen to be back", func() bool { return !i.down.Load() })
	var odd atomic.Int64
	all[0].will(func(w http.ResponseWriter, _ *http.Request) {
		if odd.Add(1)%2 == 0 {
			w.WriteHeader(500)
		}
	})
	eventually(t, "it is not asked", func() bool { return odd.Load() > 20 })
	if i.down.Load() {
		t.Error("down after one failure in a row")
	}
}

// TestSettle: it takes three failures in a row to be down, and two successes to be up.
func TestSettle(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, among(places(t, 1), nil))
	i := u.fleet.set.Load().all[0]
	good, bad := 0, 0
	for n, step := range strings.Split("+ - - + - - - + - + + -", " ") {
		if step == "+" {
			good, bad = good+1, 0
		} else {
			good, bad = 0, bad+1
		}
		u.fleet.settle(i, good, bad, "x")
		if want := n >= 6 && n < 10; i.down.Load() != want {
			t.Errorf("after step %d: down is %v", n, i.down.Load())
		}
	}
}

// kept reports whether a call was kept from the agent.
func kept(err error) bool {
	_, ok := errors.AsType[*Unavailable](err)
	return ok
}

// TestBreakerProbe: once the wait is over, one of a hundred calls goes through, and the
// others are told at once. Its success lets everybody in.
func TestBreakerProbe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.status(503)
	u := newUpstream(t, Config{Load: Load{Breaker: Breaker{For: duration(100 * time.Millisecond)}}})
	call := func() error {
		_, _, err := send(t, u, "POST", p.URL, "x")
		return err
	}
	for range 5 {
		must(t, call())
	}
	// A probe that goes ill, where the wait was over already, opens it anew.
	eventually(t, "not open", func() bool {
		return kept(call()) && u.State() == State{Instances: 1, Circuit: 2}
	})
	before := p.calls.Load()
	release := make(chan struct{})
	p.will(func(http.ResponseWriter, *http.Request) { <-release })
	eventually(t, "no probe", func() bool { return u.State().Circuit == 1 })
	var all sync.WaitGroup
	var told atomic.Int64
	for range 100 {
		all.Go(func() {
			if err := call(); kept(err) {
				if told.Add(1) == 99 {
					close(release)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.calls.Load() - before; n != 1 {
		t.Errorf("%d calls came, want a probe", n)
	}
	if err := call(); err != nil || u.State().Circuit != 0 {
		t.Errorf("not closed after a probe that went well: %v", err)
	}
}

// TestLateAnswers count as failures, callers who leave do not.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	arrived := make(chan struct{}, 20)
	p.will(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	for cause, opens := range map[error]bool{ErrLate: true, context.Canceled: false} {
		u := newUpstream(t, Config{})
		for range 6 {
			ctx, cancel := context.WithCancelCause(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, nil)
			must(t, err)
			go func() {
				select {
				case <-arrived:
					cancel(cause)
				case <-ctx.Done():
				}
			}()
			if _, _, err := u.RoundTrip(r, Hint{}); err == nil {
				t.Error("an answer came")
			}
			cancel(nil)
		}
		if got := u.State().Circuit != 0; got != opens {
			t.Errorf("%v: open is %v", cause, got)
		}
	}
}

// TestR15_FlappingAgent: of ten agents one is up and down by turns. The calls to the
// others all succeed, and those to it are not held up.
func TestR15_FlappingAgent(t *testing.T) {
	t.Parallel()
	all := places(t, 10)
	var down atomic.Bool
	all[0].will(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
	})
	var told, failed, worked, downs atomic.Int64
	begun := time.Now()
	over := func() bool { // on a slow machine it takes longer until all has been seen
		took := time.Since(begun)
		return took > 1500*time.Millisecond && told.Load() > 0 && worked.Load() > 0 || took > 20*time.Second
	}
	var run sync.WaitGroup
	run.Go(func() {
		for !over() {
			time.Sleep(200 * time.Millisecond)
			if !down.Load() {
				downs.Add(1)
			}
			down.Store(!down.Load())
		}
	})
	for n, p := range all {
		u := newUpstream(t, Config{Load: Load{Breaker: Breaker{For: duration(100 * time.Millisecond)}}})
		run.Go(func() {
			for !over() {
				_, _, err := send(t, u, "POST", p.URL, "x")
				switch {
				case n != 0 && err != nil:
					t.Error(err)
				case kept(err):
					told.Add(1)
				case err != nil && n == 0:
					failed.Add(1)
				case n == 0:
					worked.Add(1)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	run.Wait()
	// Whenever it is down, for 200 ms: five failures, and a failed probe or two.
	if told.Load() == 0 || worked.Load() == 0 || failed.Load() > 10*downs.Load() {
		t.Errorf("%d calls kept, %d failed, %d worked", told.Load(), failed.Load(), worked.Load())
	}
}

// TestInstanceByName: calls keep the URL's host and TLS name, at an instance of another
// name and port, over every protocol.
func TestInstanceByName(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+" "+r.TLS.ServerName)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.sign(t, x509.Certificate{DNSNames: []string{"agent.invalid"}}).TLS()}}
	s.StartTLS()
	t.Cleanup(s.Close)
	u := newUpstream(t, Config{
		TLS:  TLS{CA: ca.file},
		Load: Load{Instances: []Instances{{Static: []string{strings.TrimPrefix(s.URL, "https://")}}}},
	})
	_, said, err := send(t, u, "POST", "https://agent.invalid:444/x", "y")
	if err != nil || said != "agent.invalid:444 agent.invalid" {
		t.Errorf("%q, %v", said, err)
	}
	_, address := grpcAgent(t, "127.0.0.1:0", func(_, said string, s grpc.ServerStream) error { return say(s, said) })
	u = newUpstream(t, Config{Load: Load{Instances: []Instances{{Static: []string{address}}}}})
	resp, err := call(t.Context(), u, "http://agent.invalid/test/Unary", "hello")
	must(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.Trailer.Get("Grpc-Status") != "0" {
		t.Error(resp.Trailer)
	}
}

func TestDialAt(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"", "agent:443", "agent:443"},
		{"10.0.0.7", "agent:443", "10.0.0.7:443"},
		{"10.0.0.7:9001", "agent:443", "10.0.0.7:9001"},
		{"fd00::7", "agent:443", "[fd00::7]:443"},
		{"[fd00::7]:9001", "agent:443", "[fd00::7]:9001"},
	} {
		if got := (&dialer{instance: tt[0]}).dialAt(tt[1]); got != tt[2] {
			t.Errorf("%q at %q: %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
	for _, tt := range []struct{ address, want string }{
		{"10.0.0.7", "10.0.0.7:8080"}, {"fd00::7", "[fd00::7]:8080"}, {"[fd00::7]:1", "[fd00::7]:8080"},
	} {
		if got := new(dialer).checked(tt.address, 8080); got != tt.want {
			t.Errorf("%q is checked at %q", tt.address, got)
		}
	}
}

// TestChanges: instances come and go while calls are made; none fails.
func TestChanges(t *testing.T) {
	t.Parallel()
	all := places(t, 4)
	u := newUpstream(t, among(all, nil))
	lists := u.fleet.found[0]
	var run sync.WaitGroup
	done := make(chan struct{})
	run.Go(func() {
		defer close(done)
		for n := range 60 {
			u.fleet.find(0, lists[n%3:n%3+2])
			time.Sleep(2 * time.Millisecond)
		}
	})
	for range 4 {
		run.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, _, err := offer(t.Context(), u, Hint{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	run.Wait()
}
