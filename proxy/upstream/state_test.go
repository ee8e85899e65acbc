package upstream

import (
	"testing"
	"time"
)

// TestState: whoever would get the next call is healthy, also one whose circuit opened
// and that nobody has called since.
func TestState(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opened time.Duration // ago; 0 for never
		probes []time.Duration
		want   State
	}{
		"closed":                   {want: State{Instances: 1, Healthy: 1}},
		"open":                     {opened: time.Second, want: State{Instances: 1, Circuit: 2}},
		"nobody called for a time": {opened: time.Hour, want: State{Instances: 1, Healthy: 1, Circuit: 1}},
		"a probe is under way": {
			opened: time.Hour, probes: []time.Duration{time.Second}, want: State{Instances: 1, Circuit: 1},
		},
		"a probe takes its time": {
			opened: time.Hour, probes: []time.Duration{time.Minute}, want: State{Instances: 1, Healthy: 1, Circuit: 1},
		},
		"the last of two is under way": {
			opened: time.Hour, probes: []time.Duration{time.Minute, time.Second}, want: State{Instances: 1, Circuit: 1},
		},
	} {
		for kind, c := range map[string]Config{"alone": {}, "of a fleet": among(places(t, 1), nil)} {
			u := newUpstream(t, c)
			i := u.direct
			if u.fleet != nil {
				i = u.fleet.set.Load().all[0]
			}
			now := time.Now()
			if tt.opened > 0 {
				for range 5 {
					at := now.Add(-tt.opened).UnixNano()
					era, _ := i.circuit.enter(at)
					i.circuit.leave(era, at, failed)
				}
			}
			for _, ago := range tt.probes {
				if _, ok := i.circuit.enter(now.Add(-ago).UnixNano()); !ok {
					t.Errorf("%s, %s: no probe", name, kind)
				}
			}
			if got := u.State(); got != tt.want {
				t.Errorf("%s, %s: %+v, want %+v", name, kind, got, tt.want)
			}
		}
	}
}
