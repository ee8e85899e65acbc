package history

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

// meter is what is read: calls that came since it was read last.
type meter struct {
	mu    sync.Mutex
	reads int
	now   Sample
}

func (m *meter) read() Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	s := m.now
	m.now = Sample{Streams: s.Streams, Webhooks: s.Webhooks}
	return s
}

// count has calls end that took so long, in seconds, by the bounds of the tests.
func (m *meter) count(calls, bucket int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Calls += uint64(calls) //nolint:gosec // of tests
	if m.now.Took == nil {
		m.now.Took = make([]uint64, len(bounds)+1)
	}
	m.now.Took[bucket] += uint64(calls) //nolint:gosec // of tests
}

// set changes what is read next.
func (m *meter) set(change func(*Sample)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.now)
}

var bounds = []float64{.1, .2, 1}

// running is a history that is fed until the test ends, and what it reads.
func running(t *testing.T) (*History, *meter) {
	t.Helper()
	m := new(meter)
	h := New(bounds, m.read)
	closed, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		h.Run(closed)
	}()
	t.Cleanup(func() {
		close(closed)
		<-done
	})
	return h, m
}

// TestSteps: calls are in the step in which they ended, and rates know for how long a step was
// watched; the step that goes on is up to date.
func TestSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(4 * time.Second) // it begins in the middle of a step
		h, m := running(t)
		m.count(3, 0)
		time.Sleep(7 * time.Second) // 11 s
		m.count(20, 1)
		m.set(func(s *Sample) { s.Streams = 7 })
		time.Sleep(10 * time.Second) // 21 s
		m.set(func(s *Sample) { s.Streams = 2 })
		m.count(5, 2)
		time.Sleep(4 * time.Second) // 25 s
		now := time.Now()
		s := h.Between(now.Add(-time.Minute), now)
		if len(s.Steps) != 7 || s.Every != 10*time.Second || !s.Until.Equal(now) || now.Sub(s.Since) != 65*time.Second {
			t.Fatalf("%d steps of %v from %v to %v", len(s.Steps), s.Every, s.Since, s.Until)
		}
		for i, want := range map[int]Step{
			3: {}, // before it began nothing is known
			4: {Lasted: 6 * time.Second, Calls: 3},
			5: {Lasted: 10 * time.Second, Calls: 20, Streams: 7},
			6: {Lasted: 5 * time.Second, Calls: 5, Streams: 2},
		} {
			got := s.Steps[i]
			got.took = nil
			if got.Lasted != want.Lasted || got.Calls != want.Calls || got.Streams != want.Streams {
				t.Errorf("step %d: %+v, want %+v", i, got, want)
			}
		}
		if s.Total.Calls != 28 || s.Streams != 2 || s.Total.Lasted != 21*time.Second || s.Total.Streams != 7 || !s.Began.Equal(now.Add(-21*time.Second)) {
			t.Errorf("%+v, since %v", s.Total, s.Began)
		}
		// However many look, counters are read once a second.
		reads := m.reads
		for range 10 {
			h.Between(now, now)
		}
		if m.reads != reads {
			t.Errorf("read %d times", m.reads-reads)
		}
	})
}

// TestRings: for an hour there are steps of ten seconds, for a day those of a minute, and what
// is older is gone, with as many steps as a picture can have.
func TestRings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, m := running(t)
		time.Sleep(time.Second)
		for range 30 * 60 { // 30 hours, a call a second
			m.count(60, 0)
			time.Sleep(time.Minute)
		}
		now := time.Now()
		for _, c := range []struct {
			back, every time.Duration
		}{
			{15 * time.Minute, 10 * time.Second}, {time.Hour, 30 * time.Second}, {2 * time.Hour, time.Minute},
			{6 * time.Hour, 3 * time.Minute}, {24 * time.Hour, 12 * time.Minute}, {48 * time.Hour, 12 * time.Minute},
		} {
			s := h.Between(now.Add(-c.back), now)
			want := min(c.back, Retention)
			if s.Every != c.every || len(s.Steps) > mostSteps+1 || now.Sub(s.Since) < want || now.Sub(s.Since) > want+c.every {
				t.Errorf("%v: %d steps of %v since %v", c.back, len(s.Steps), s.Every, now.Sub(s.Since))
			}
			if got, most := time.Duration(s.Total.Calls)*time.Second, want+c.every+time.Minute; got < want-time.Minute || got > most { //nolint:gosec // of tests
				t.Errorf("%v: %d calls", c.back, s.Total.Calls)
			}
		}
		// Between two times, and where nothing can be.
		s := h.Between(now.Add(-3*time.Hour), now.Add(-2*time.Hour))
		if s.Total.Calls < 3540 || s.Total.Calls > 3720 || s.Until.Sub(now.Add(-2*time.Hour)) > time.Minute {
			t.Errorf("an hour: %d calls until %v", s.Total.Calls, s.Until)
		}
		if s := h.Between(now.Add(-50*time.Hour), now.Add(-40*time.Hour)); len(s.Steps) > 0 {
			t.Errorf("what was forgotten: %d calls", s.Total.Calls)
		}
		if s := h.Between(now.Add(time.Hour), now.Add(2*time.Hour)); len(s.Steps) > 0 {
			t.Errorf("the future: %+v", s.Total)
		}
	})
}

// TestSleep: what comes after a machine slept does not make up for the time that nobody knows of.
func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := new(meter)
		h := New(bounds, m.read) // nobody runs it
		m.count(4, 0)
		time.Sleep(10 * time.Minute)
		s := h.Between(time.Now().Add(-10*time.Minute), time.Now())
		known := 0
		for i := range s.Steps {
			if s.Steps[i].Lasted > 0 {
				known++
			}
		}
		if known != 1 || s.Total.Calls != 4 || s.Total.Lasted != 10*time.Second {
			t.Errorf("%d steps are known, %+v", known, s.Total)
		}
	})
}

// TestQuantiles: they are those of the buckets, within which calls lie evenly.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took []uint64
		q    float64
		want float64
	}{
		{nil, .5, 0},
		{[]uint64{0, 0, 0, 0}, .5, 0},
		{[]uint64{10, 0, 0, 0}, .5, .05},
		{[]uint64{10, 10, 0, 0}, .5, .1},
		{[]uint64{0, 10, 0, 0}, .5, .15},
		{[]uint64{50, 40, 10, 0}, .95, .6},
		{[]uint64{50, 40, 10, 0}, .99, .92},
		{[]uint64{1, 0, 0, 9}, .5, 1}, // more than a second is all that is known
		{[]uint64{100, 0, 1, 0}, .99, .1 * .9999},
	} {
		s := Span{bounds: bounds}
		if got := s.Quantile(&Step{took: c.took}, c.q); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of %v: %v, want %v", c.q, c.took, got, c.want)
		}
	}
}

// TestQuantilesOfSteps: a step has those of its calls, and all together have those of all.
func TestQuantilesOfSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, m := running(t)
		m.count(100, 0)
		time.Sleep(11 * time.Second)
		m.count(100, 2)
		m.set(func(s *Sample) { s.Unwell, s.Denied = 7, 3 })
		time.Sleep(9 * time.Second)
		synctest.Wait()
		now := time.Now()
		s := h.Between(now.Add(-20*time.Second), now)
		if got := []float64{s.Quantile(&s.Steps[0], .5), s.Quantile(&s.Steps[1], .5), s.Quantile(&s.Total, .5)}; math.Abs(got[0]-.05)+math.Abs(got[1]-.6)+math.Abs(got[2]-.1) > 1e-9 {
			t.Error(got)
		}
		if s.Total.Failed() != 4 || s.Total.Denied != 3 {
			t.Errorf("%+v", s.Total)
		}
		if early := (&Step{Denied: 2, Unwell: 1}); early.Failed() != 0 {
			t.Errorf("%d failed", early.Failed())
		}
	})
}

// TestMemory: the rings have the size that the package says.
func TestMemory(t *testing.T) {
	t.Parallel()
	h := New(make([]float64, 16), nil)
	size := 0
	for _, r := range []ring{h.fine, h.coarse} {
		size += len(r.steps) * int(unsafe.Sizeof(step{}))
		for i := range r.steps {
			size += len(r.steps[i].took) * 4
		}
	}
	if len(h.fine.steps) != 361 || len(h.coarse.steps) != 1441 || size > 300<<10 {
		t.Errorf("%d and %d steps, %d bytes", len(h.fine.steps), len(h.coarse.steps), size)
	}
}
