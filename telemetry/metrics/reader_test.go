package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reading is a Reader of metrics with two agents and a rule.
func reading(t testing.TB) (*Metrics, *Reader) {
	t.Helper()
	m := New(prometheus.NewRegistry(), false, "test")
	m.SetLabels(Labels{Agents: []string{"a", "b"}, Rules: []string{"team"}, Methods: []string{"x/y"}})
	return m, m.Reader()
}

// TestReader: each reading has what came since the one before, over all agents, methods,
// bindings and codes; streams have no duration.
func TestReader(t *testing.T) {
	t.Parallel()
	m, r := reading(t)
	m.Calls.Finish(&Call{Agent: "a", Method: "SendMessage", Binding: "JSONRPC", Status: 200, Duration: 3 * time.Millisecond})
	m.Calls.Finish(&Call{Agent: "b", Method: "x/y", Binding: "GRPC", Status: 200, Duration: time.Hour})
	m.Calls.Finish(&Call{Agent: "b", Method: "SendStreamingMessage", Binding: "HTTP+JSON", Status: 200, Streamed: true, Duration: time.Hour})
	m.Calls.Finish(&Call{Agent: "never", Method: "SendMessage", Status: 403, Reason: "UNAUTHORIZED", Duration: 80 * time.Microsecond})
	m.Policy.Decided("team", "deny", false)
	m.Policy.Decided("", "deny", false)
	m.Policy.Decided("team", "allow", false)
	m.Push.Queue(4, 1, time.Second)
	got := r.Read()
	took := make([]uint64, 17)
	took[0], took[2], took[16] = 1, 1, 1
	if got.Calls != 4 || got.Unwell != 1 || got.Denied != 2 || got.Waiting != 4 || !slices.Equal(got.Took, took) {
		t.Errorf("%+v", got)
	}
	if got = r.Read(); got.Calls+got.Unwell+got.Denied != 0 || slices.Max(got.Took) != 0 {
		t.Errorf("nothing came, and it reads %+v", got)
	}
	m.Calls.Finish(&Call{Agent: "a", Method: "SendMessage", Binding: "JSONRPC", Status: 502, Reason: "UNAVAILABLE", Duration: 3 * time.Millisecond})
	if got = r.Read(); got.Calls != 1 || got.Unwell != 1 || got.Took[2] != 1 {
		t.Errorf("%+v", got)
	}
}

// TestReaderForgets: what is removed with an agent is neither missed nor remembered, and the
// agent begins anew when it is back.
func TestReaderForgets(t *testing.T) {
	t.Parallel()
	m, r := reading(t)
	call := func(agent string) {
		m.Calls.Finish(&Call{Agent: agent, Method: "SendMessage", Binding: "JSONRPC", Status: 200, Duration: time.Millisecond})
	}
	for range 100 {
		call("b")
		m.Policy.Decided("team", "deny", false)
	}
	call("a")
	r.Read()
	m.SetLabels(Labels{Agents: []string{"a"}})
	call("a")
	if got := r.Read(); got.Calls != 1 || got.Took[0] != 1 || got.Denied != 0 || len(r.calls) != 1 {
		t.Errorf("%+v, %d remembered", got, len(r.calls))
	}
	m.SetLabels(Labels{Agents: []string{"a", "b"}, Rules: []string{"team"}})
	call("b")
	m.Policy.Decided("team", "deny", false)
	if got := r.Read(); got.Calls != 1 || got.Took[0] != 1 || got.Denied != 1 {
		t.Errorf("%+v", got)
	}
}

// TestReaderLate: a call whose duration is counted only after it was read is in the next reading.
func TestReaderLate(t *testing.T) {
	t.Parallel()
	m, r := reading(t)
	call := Call{Agent: "a", Method: "SendMessage", Binding: "JSONRPC", Status: 200}
	s := m.Calls.of(bounded(m.sets.Load().agents, "a"), call.Method)
	m.Calls.countRequest(s, &call)
	if got := r.Read(); got.Calls != 1 || slices.Max(got.Took) != 0 {
		t.Errorf("%+v", got)
	}
	observe(m.Calls.metrics.Duration, &s.duration, s).Observe(.0001)
	if got := r.Read(); got.Calls != 0 || got.Took[0] != 1 {
		t.Errorf("%+v", got)
	}
}

// TestReaderAnew: a histogram that begins anew has what it counted since.
func TestReaderAnew(t *testing.T) {
	t.Parallel()
	s := &callSeries{}
	seen, into := []uint64{5, 9, 2}, make([]uint64, 3)
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: []float64{1, 2}})
	for range 4 {
		h.Observe(.5)
	}
	h.Observe(1.5)
	observer := prometheus.Observer(h)
	s.duration.Store(&observer)
	s.took(seen, into)
	if want := []uint64{4, 1, 0}; !slices.Equal(into, want) || !slices.Equal(seen, want) {
		t.Errorf("%v, remembered %v", into, seen)
	}
}

// BenchmarkReader reads the counters of a large fleet, all of which move.
func BenchmarkReader(b *testing.B) {
	for _, moves := range []bool{false, true} {
		b.Run(fmt.Sprint("moves=", moves), func(b *testing.B) {
			m, r := reading(b)
			var l Labels
			for i := range 1000 {
				l.Agents = append(l.Agents, fmt.Sprint("agent-", i))
			}
			m.SetLabels(l)
			all := func() {
				for _, id := range l.Agents {
					m.Calls.Finish(&Call{Agent: id, Method: "SendMessage", Binding: "JSONRPC", Status: 200, Duration: time.Millisecond})
				}
			}
			all()
			r.Read()
			r.Read()
			b.ReportAllocs()
			for b.Loop() {
				if moves {
					b.StopTimer()
					all()
					b.StartTimer()
				}
				r.Read()
			}
		})
	}
}
