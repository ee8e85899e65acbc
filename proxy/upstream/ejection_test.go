package upstream

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// TestStatusesEject: an instance that answers every call with a status that counts is left
// alone; with one that does not it stays, as what one caller's call runs into says nothing of
// it. The circuit, which would keep everybody from the agent, counts what it has counted.
func TestStatusesEject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status   int
		grpc     string
		statuses []int
		ejects   bool
	}{
		"a plain 500":              {status: 500, ejects: true},
		"507":                      {status: 507, ejects: true},
		"529":                      {status: 529, ejects: true},
		"502":                      {status: 502, ejects: true},
		"no such method":           {status: 501},
		"429":                      {status: 429},
		"404":                      {status: 404},
		"500 that is not listed":   {status: 500, statuses: []int{502, 503}},
		"503 that is not listed":   {status: 503, statuses: []int{500}},
		"429 that is listed":       {status: 429, statuses: []int{429}, ejects: true},
		"UNKNOWN of gRPC":          {status: 200, grpc: "2", ejects: true},
		"INTERNAL of gRPC":         {status: 200, grpc: "13", ejects: true},
		"UNAVAILABLE of gRPC":      {status: 200, grpc: "14", ejects: true},
		"UNIMPLEMENTED of gRPC":    {status: 200, grpc: "12"},
		"NOT_FOUND of gRPC":        {status: 200, grpc: "5"},
		"OK of gRPC":               {status: 200, grpc: "0"},
		"INTERNAL, not listed":     {status: 200, grpc: "13", statuses: []int{503}},
		"UNIMPLEMENTED, if listed": {status: 200, grpc: "12", statuses: []int{501}, ejects: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := places(t, 2)
			u := newUpstream(t, among(all, func(l *Load) { l.Ejection.Statuses, l.Breaker.Off = tc.statuses, true }))
			all[0].will(func(w http.ResponseWriter, _ *http.Request) {
				if tc.grpc != "" {
					w.Header().Set("Grpc-Status", tc.grpc)
				}
				w.WriteHeader(tc.status)
			})
			// How many of the calls one gets that is not ejected depends on how long it takes beside
			// the other; it has to have had as many as eject.
			for i := 0; i < 200 || all[0].calls.Load() < 5; i++ {
				var h Hint
				if i >= 200 {
					h = Hint{Instance: all[0].address(), Task: true}
				}
				_, _, err := offer(t.Context(), u, h)
				must(t, err)
			}
			n, state, each := all[0].calls.Load(), u.State(), u.Instances()
			if n < 5 || tc.ejects && n > 5 || tc.ejects != (state.Healthy == 1) {
				t.Errorf("it had %d calls, and %d of 2 are healthy", n, state.Healthy)
			}
			if bad := each[0]; tc.ejects && (bad.Address != all[0].address() || !strings.HasPrefix(bad.Why, "it failed calls and is ejected for ") || bad.Ejections != 1) {
				t.Errorf("the state shows %+v first", bad)
			}
			for _, i := range each {
				if !tc.ejects && i.Why != "" {
					t.Errorf("the state shows %+v", i)
				}
			}
		})
	}
}

// TestPlain500KeepsTheCircuit: one agent that fails a call is there for others.
func TestPlain500KeepsTheCircuit(t *testing.T) {
	t.Parallel()
	all := places(t, 2)
	u := newUpstream(t, among(all, func(l *Load) { l.Ejection.Off = true }))
	all[0].status(500)
	all[1].status(500)
	for range 50 {
		_, _, err := offer(t.Context(), u, Hint{})
		must(t, err)
	}
	if s := u.State(); s.Circuit != 0 || s.Healthy != 2 {
		t.Errorf("%+v", s)
	}
}

// TestSlowIsSeen: an instance that takes long stands before the others while it still gets
// calls, and no more instances are shown than there is room for.
func TestSlowIsSeen(t *testing.T) {
	t.Parallel()
	all := places(t, 2)
	u := newUpstream(t, among(all, noEjection))
	all[1].will(func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) })
	eventually(t, "the slow one has answered, and the other", func() bool {
		_, _, err := offer(t.Context(), u, Hint{})
		must(t, err)
		return all[0].calls.Load() > 0 && all[1].calls.Load() > 0
	})
	each := u.Instances()
	if len(each) != 2 || each[0].Address != all[1].address() || each[0].Latency < 50*time.Millisecond || each[0].Why != "" || each[1].Latency >= each[0].Latency {
		t.Errorf("%+v", each)
	}
	many := make([]discovery.Instance, 3*shown)
	for i := range many {
		many[i].Address = "192.0.2.1:" + strconv.Itoa(1000+i)
	}
	u.fleet.find(0, many)
	u.fleet.set.Load().all[2*shown].down.Store(true)
	each = u.Instances()
	if s := u.State(); len(each) != shown || each[0].Why != "its checks fail" || s.Instances != 3*shown || s.Healthy != 3*shown-1 {
		t.Errorf("%d are shown, first %+v, of %d", len(each), each[0], s.Instances)
	}
}

// TestOneCallerEjectsNobody: calls that an agent fails, of one caller, take no instance from
// the others who call, however many come at once. What fails for several does, and what fails
// where nobody else calls.
func TestOneCallerEjectsNobody(t *testing.T) {
	t.Parallel()
	all := places(t, 2)
	u := newUpstream(t, among(all, func(l *Load) { l.Breaker.Off = true }))
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	calls := func(n int, who string) {
		for range n {
			_, _, err := offer(t.Context(), u, Hint{Caller: who})
			must(t, err)
		}
	}
	calls(50, "bob")
	all[0].will(broken)
	all[1].will(broken)
	calls(100, "mallory")
	if s := u.State(); s.Healthy != 2 {
		t.Errorf("one caller has left %d of 2 instances to others", s.Healthy)
	}
	calls(20, "bob")
	if s := u.State(); s.Healthy != 1 {
		t.Errorf("%d of 2 are healthy, one of which fails for all", s.Healthy)
	}
}
