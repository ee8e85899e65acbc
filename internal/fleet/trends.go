package fleet

import (
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
)

// The console draws five minutes: thirty steps of ten seconds.
const (
	trendEvery = 10 * time.Second
	trendSteps = 30
)

// trends are how many calls each agent had lately. Counters are read when somebody asks:
// what has come since they were read last counts as if it had come evenly. Two operators
// who look at the same time share the steps: the second one finds them moved already.
type trends struct {
	mu    sync.Mutex
	at    time.Time // until when steps reach
	total map[string]int64
	steps map[string]*[trendSteps]float64 // the latest last; agents without a call have none
}

// newTrends begins now, with nothing counted.
func newTrends(now time.Time) *trends {
	return &trends{at: now, steps: map[string]*[trendSteps]float64{}}
}

// read is what there was until now, given how many calls each agent has had in all. total
// only grows; a step is the difference between two totals. Reading costs a look at the
// counters, so that nothing has to run while nobody looks at the page.
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

// move goes on by n steps. Steps move towards the front by n, and what has come since the
// last time is spread over the last n. An agent without a call in all of its steps is
// forgotten.
func (t *trends) move(n int, total map[string]int64) {
	for id := range total {
		if t.steps[id] == nil {
			t.steps[id] = &[trendSteps]float64{}
		}
	}
	kept := max(trendSteps-n, 0)
	for id, steps := range t.steps {
		// Spread evenly, since nobody knows when within the steps the calls came.
		each := float64(max(total[id]-t.total[id], 0)) / float64(n)
		copy(steps[:], steps[trendSteps-kept:])
		// An agent that is gone would otherwise be in the answer for ever.
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

// pace is how long agents took to answer lately.
type pace struct{ micros, answers *trends }

// read is the mean of each agent's answers in the steps, in seconds, given what the metrics have summed up.
func (p *pace) read(now time.Time, micros, answers map[string]int64) map[string]float64 {
	took, of := p.micros.read(now, micros).Agents, p.answers.read(now, answers).Agents
	mean := make(map[string]float64, len(of))
	for id, steps := range of {
		if n := sum(steps); n > 0 {
			mean[id] = sum(took[id]) / n / 1e6
		}
	}
	return mean
}

func sum(of []float64) (all float64) {
	for _, n := range of {
		all += n
	}
	return all
}

// Trends implements fleet.Agents. Calls are counted by the metrics; here their labels are
// summed up to one number for each agent.
func (a *Agents) Trends() fleet.Trends {
	total := map[string]int64{}
	for _, c := range a.Registry.Telemetry.Metrics.Calls.Counts() {
		if id := c.Labels["agent"]; id != "" {
			total[id] += c.Value
		}
	}
	now := time.Now()
	lately := a.trends.read(now, total)
	micros, answers := a.Registry.Telemetry.Metrics.Calls.AnswerTimes()
	lately.Took = a.pace.read(now, micros, answers)
	return lately
}
