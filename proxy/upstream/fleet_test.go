package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// place is an instance of an agent that counts what it receives.
type place struct {
	*httptest.Server
	calls atomic.Int64
	do    atomic.Pointer[http.HandlerFunc] // nil: answer "ok"
}

func newPlace(t testing.TB) *place {
	p := new(place)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.calls.Add(1)
		if do := p.do.Load(); do != nil {
			(*do)(w, r)
			return
		}
		_, _ = io.WriteString(w, "ok")
	}))
	p.Config.ErrorLog = nil
	t.Cleanup(p.Close)
	return p
}

func (p *place) address() string { return strings.TrimPrefix(p.URL, "http://") }

func (p *place) will(do http.HandlerFunc) { p.do.Store(&do) }

// status has every call answered with a status.
func (p *place) status(code int) {
	p.will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

// dies has every call cut off once it has been read.
func (p *place) dies() {
	p.will(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

func places(t testing.TB, n int) []*place {
	all := make([]*place, n)
	for i := range all {
		all[i] = newPlace(t)
	}
	return all
}

// among is a configuration with these instances.
func among(all []*place, edit func(*Load)) Config {
	var list []string
	for _, p := range all {
		list = append(list, p.address())
	}
	l := Load{Instances: []Instances{{Static: list}}}
	if edit != nil {
		edit(&l)
	}
	return Config{Load: l}
}

// text is a body that can be sent again.
type text string

func (t text) Reader() io.ReadCloser { return io.NopCloser(strings.NewReader(string(t))) }

// offer sends a call to the agent, whose name no resolver knows.
func offer(ctx context.Context, u *Upstream, h Hint) (int, Served, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent.invalid/a2a", nil)
	if err != nil {
		return 0, Served{}, err
	}
	r.Body, r.ContentLength, h.Body = text("call").Reader(), 4, text("call")
	resp, served, err := u.RoundTrip(r, h)
	if err != nil {
		return 0, served, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, served, errors.Join(err, resp.Body.Close())
}

func total(all []*place) (n int64) {
	for _, p := range all {
		n += p.calls.Load()
	}
	return n
}

func noEjection(l *Load) { l.Ejection.Off, l.Breaker.Off = true, true }

// TestDistribution: every instance gets calls, and one that is ten times slower few.
func TestDistribution(t *testing.T) {
	t.Parallel()
	all := places(t, 4)
	for n, p := range all {
		wait := 20 * time.Millisecond
		if n == 0 {
			wait *= 10
		}
		p.will(func(http.ResponseWriter, *http.Request) { time.Sleep(wait) })
	}
	u := newUpstream(t, among(all, nil))
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			for range 40 {
				if _, _, err := offer(t.Context(), u, Hint{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	slow, others := all[0].calls.Load(), total(all[1:])/3
	if slow*2 > others || slow == 0 {
		t.Errorf("the slow one had %d calls, the others %d each", slow, others)
	}
	for _, p := range all[1:] {
		if n := p.calls.Load(); n < others/2 {
			t.Errorf("one of those that are alike had %d calls of %d", n, others)
		}
	}
	if n := u.calls.Load(); n != 0 {
		t.Errorf("%d calls in flight after all have ended", n)
	}
	for _, i := range u.fleet.set.Load().all {
		if n := i.calls.Load(); n != 0 {
			t.Errorf("%d calls in flight at %s", n, i.address)
		}
	}
}

// TestWeights: calls come by the weights.
func TestWeights(t *testing.T) {
	t.Parallel()
	s := &set{all: []*instance{{address: "a", weight: 1}, {address: "b", weight: 3}}}
	s.weigh()
	var drawn [2]int
	for range 10_000 {
		drawn[s.random()]++
	}
	if share := float64(drawn[1]) / 10_000; share < 0.7 || share > 0.8 {
		t.Errorf("three quarters are %v", share)
	}
}

// TestAffinity: two gateways, who share what is recorded of a task, send calls on it
// to the same instance, and first calls of a context too.
func TestAffinity(t *testing.T) {
	t.Parallel()
	all := places(t, 5)
	one, two := newUpstream(t, among(all, nil)), newUpstream(t, among(reversed(all), nil))
	for n := range 30 {
		session := fmt.Sprint("context ", n)
		_, a, err := offer(t.Context(), one, Hint{Context: session})
		must(t, err)
		_, b, err := offer(t.Context(), two, Hint{Context: session})
		must(t, err)
		if a.Instance != b.Instance || a.Instance == "" || a.Tries != 1 {
			t.Fatalf("%s went to %v and %v", session, a, b)
		}
		_, a, err = offer(t.Context(), one, Hint{})
		must(t, err)
		_, b, err = offer(t.Context(), two, Hint{Instance: a.Instance, Task: true, Context: session})
		must(t, err)
		if a.Instance != b.Instance {
			t.Fatalf("a task of %s went to %s", a.Instance, b.Instance)
		}
	}
	for _, p := range all {
		if p.calls.Load() == 0 {
			t.Error("an instance had no calls")
		}
	}
	none := newUpstream(t, among(all, func(l *Load) { l.Affinity.By = []string{byNothing} }))
	seen := map[string]bool{}
	for range 50 {
		_, served, err := offer(t.Context(), none, Hint{Instance: all[0].address(), Task: true, Context: "c"})
		must(t, err)
		seen[served.Instance] = true
	}
	if len(seen) < 2 {
		t.Error("calls have an affinity that is off")
	}
}

// TestRendezvous: when an instance goes, only what was its moves.
func TestRendezvous(t *testing.T) {
	t.Parallel()
	all := places(t, 6)
	u := newUpstream(t, among(all, nil))
	f, now := u.fleet, time.Now().UnixNano()
	before := map[string]*instance{}
	counts := map[*instance]int{}
	for n := range 3000 {
		name := fmt.Sprint(n)
		before[name] = f.rendezvous(f.set.Load(), name, nil, now)
		counts[before[name]]++
	}
	for i, n := range counts {
		if n < 350 || n > 650 {
			t.Errorf("%s has %d of 3000", i.address, n)
		}
	}
	gone := f.set.Load().all[2]
	f.set.Load().all[2].down.Store(true)
	for name, was := range before {
		is := f.rendezvous(f.set.Load(), name, nil, now)
		if (is != was) != (was == gone) {
			t.Fatalf("%s moved from %s to %s", name, was.address, is.address)
		}
	}
}

// TestOwnerAway: what becomes of calls on a task whose instance is down, or gone.
func TestOwnerAway(t *testing.T) {
	t.Parallel()
	lenient := false
	for _, tt := range []struct {
		name   string
		strict *bool
		safe   bool
		gone   bool // from where instances are found
		wants  string
	}{
		{"send", nil, false, false, "503"},
		{"read", nil, true, false, "another after it"},
		{"send, not strict", &lenient, false, false, "another"},
		{"send, gone", nil, false, true, "another"},
		{"read, gone", nil, true, true, "another"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := places(t, 3)
			u := newUpstream(t, among(all, func(l *Load) { l.Affinity.Strict = tt.strict }))
			owner := all[1]
			owner.Close()
			if tt.gone {
				u.fleet.find(0, []discovery.Instance{{Address: all[0].address()}, {Address: all[2].address()}})
			} else {
				u.fleet.set.Load().names[owner.address()].down.Store(true)
			}
			status, served, err := offer(t.Context(), u, Hint{Instance: owner.address(), Task: true, Safe: tt.safe})
			var away *Unavailable
			got := fmt.Sprint(status, served, err)
			switch {
			case errors.As(err, &away) && away.After > 0 && served.Tries == 0:
				got = "503"
			case status == 200 && served.Tries == 1:
				got = "another"
			case status == 200 && served.Tries == 2:
				got = "another after it"
			}
			if got != tt.wants {
				t.Errorf("%s, want %s", got, tt.wants)
			}
		})
	}
}

// TestA22_OneSend: an agent that dies after it has received a send gets no second one,
// and nobody else gets it; a send that reached nobody may be somebody else's.
func TestA22_OneSend(t *testing.T) {
	t.Parallel()
	all := places(t, 3)
	for _, p := range all {
		p.dies()
	}
	u := newUpstream(t, among(all, noEjection))
	for n := range int64(30) {
		if _, served, err := offer(t.Context(), u, Hint{}); err == nil || served.Tries != 1 {
			t.Fatalf("tries %d: %v", served.Tries, err)
		}
		if got := total(all); got != n+1 {
			t.Fatalf("%d sends were received of %d", got, n+1)
		}
	}
	for _, code := range []int{502, 503, 504, 500} {
		for _, p := range all {
			p.status(code)
		}
		before := total(all)
		status, served, err := offer(t.Context(), u, Hint{})
		if err != nil || status != code || served.Tries != 1 || total(all) != before+1 {
			t.Errorf("a send answered %d: %d %v, %v", code, status, served, err)
		}
	}
	all[0].Close()
	all[1].Close()
	all[2].do.Store(nil)
	before := all[2].calls.Load()
	done := 0
	for range 20 {
		if status, _, err := offer(t.Context(), u, Hint{}); err == nil && status == 200 {
			done++
		}
	}
	if got := all[2].calls.Load() - before; got != int64(done) || done == 0 {
		t.Errorf("%d sends succeeded and %d were received", done, got)
	}
}

// TestReadsAgain: a read goes to another instance after a broken connection or a
// status of the list, a late one does not.
func TestReadsAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bad   func(*place)
		tries int
		code  int
	}{
		"broken":  {(*place).dies, 2, 200},
		"502":     {func(p *place) { p.status(502) }, 2, 200},
		"504":     {func(p *place) { p.status(504) }, 2, 200},
		"500":     {func(p *place) { p.status(500) }, 1, 500},
		"404":     {func(p *place) { p.status(404) }, 1, 404},
		"refused": {func(p *place) { p.Close() }, 2, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := places(t, 2)
			u := newUpstream(t, among(all, noEjection))
			tt.bad(all[0])
			again := 0
			u.fleet.o.Retried = func() { again++ }
			status, served, err := offer(t.Context(), u, Hint{Instance: all[0].address(), Safe: true, Task: true})
			if err != nil || status != tt.code || served.Tries != tt.tries || again != tt.tries-1 {
				t.Errorf("%d %v %v, %d again", status, served, err, again)
			}
			if n := u.calls.Load(); n != 0 {
				t.Errorf("%d calls in flight after all have ended", n)
			}
		})
	}
}

// TestRetryBudget: when everybody fails, a tenth more is sent and not twice as much.
func TestRetryBudget(t *testing.T) {
	t.Parallel()
	all := places(t, 3)
	for _, p := range all {
		p.status(503)
	}
	u := newUpstream(t, among(all, noEjection))
	const calls = 1000
	start := time.Now()
	for range calls {
		if status, _, err := offer(t.Context(), u, Hint{Safe: true}); err != nil || status != 503 {
			t.Fatal(status, err)
		}
	}
	most := calls + calls/10 + 3*int64(time.Since(start)/time.Second+2)
	if got := total(all); got < calls+calls/20 || got > most {
		t.Errorf("%d were sent of %d, at most %d", got, calls, most)
	}
}

// TestConnectionsOfInstances: an instance that has as many calls as it may is left out.
func TestConnectionsOfInstances(t *testing.T) {
	t.Parallel()
	all := places(t, 2)
	release := make(chan struct{})
	arrived := make(chan struct{}, 4)
	for _, p := range all {
		p.will(func(http.ResponseWriter, *http.Request) {
			arrived <- struct{}{}
			<-release
		})
	}
	u := newUpstream(t, among(all, func(l *Load) { l.Connections = 1 }))
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { _, _, _ = offer(context.Background(), u, Hint{Context: "same"}) })
		<-arrived
	}
	if _, served, err := offer(t.Context(), u, Hint{}); !errors.Is(err, ErrBusy) || served.Tries != 0 {
		t.Errorf("%v %v", served, err)
	}
	close(release)
	calls.Wait()
	if all[0].calls.Load() != 1 || all[1].calls.Load() != 1 {
		t.Error("an instance had two calls")
	}
}

// TestNoInstances: an agent whose instances are not known, or are none, is away.
func TestNoInstances(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, among(places(t, 1), nil))
	u.fleet.find(0, nil)
	var away *Unavailable
	if _, _, err := offer(t.Context(), u, Hint{Safe: true}); !errors.As(err, &away) {
		t.Error(err)
	}
	if got := u.State(); got != (State{}) {
		t.Error(got)
	}
}

func TestMethodTimeouts(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, Config{Load: Load{Timeouts: map[string]quantity.Duration{"GetTask": quantity.Duration(time.Second)}}})
	if u.Timeout("GetTask") != time.Second || u.Timeout("SendMessage") != 5*time.Minute {
		t.Error(u.Timeout("GetTask"), u.Timeout("SendMessage"))
	}
}

func reversed(all []*place) []*place {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}
