package fleet

import (
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
)

const (
	trendEvery = 10 * time.Second
	trendSteps = 30
)

// trends are how many calls each agent had lately. Counters are read when somebody asks: what
// has come since they were read last counts as if it had come evenly.
type trends struct {
	mu    sync.Mutex
	at    time.Time // until when steps reach
	total map[string]int64
	steps map[string]*[trendSteps]float64 // the latest last; agents without a call have none
}

func newTrends(now time.Time) *trends {
	return &trends{at: now, steps: map[string]*[trendSteps]float64{}}
}

// read is what there was until now, given how many calls each agent has had in all.
func (t *trends) read(now time.Time, total map[string]int64) fleet.Trends {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := int(now.Sub(t.at) / trendEvery); n > 0 {
		t.move(n, total)
		t.at = t.at.Add(time.Duration(n) * trendEvery)
	}
	all := fleet.Trends{Until: t.at.UTC(), Every: trendEvery.Seconds(), Agents: make(map[string][]float64, len(t.steps))}
	for id, steps := range t.steps {
		all.Agents[id] = append([]float64(nil), steps[:]...)
	}
	return all
}

// move goes on by n steps.
func (t *trends) move(n int, total map[string]int64) {
	for id := range total {
		if t.steps[id] == nil {
			t.steps[id] = &[trendSteps]float64{}
		}
	}
	kept := max(trendSteps-n, 0)
	for id, steps := range t.steps {
		each := float64(total[id]-t.total[id]) / float64(n)
		copy(steps[:], steps[trendSteps-kept:])
		idle := each == 0
		for i := range steps {
			if i >= kept {
				steps[i] = each
			}
			idle = idle && steps[i] == 0
		}
		if idle {
			delete(t.steps, id)
		}
	}
	t.total = total
}

// Trends implements fleet.Agents.
func (a *Agents) Trends() fleet.Trends {
	total := map[string]int64{}
	for _, c := range a.Registry.Telemetry.Metrics.Requests() {
		if id := c.Labels["agent"]; id != "" {
			total[id] += c.Value
		}
	}
	return a.trends.read(time.Now(), total)
}
