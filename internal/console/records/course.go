package records

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// courseSteps is how many steps a window has.
const courseSteps = 60

// mostReasons is how many reasons are told apart; the errors of A2A and of the gateway are
// fewer.
const mostReasons = 50

// Course is the answer of GET /api/v1/agents/{id}/course: how calls of one agent went.
type Course struct {
	Since   time.Time    `json:"since" doc:"start of the counted period; it counts calls by their end"`
	Until   time.Time    `json:"until"`
	Every   float64      `json:"every" doc:"length of a step in seconds"`
	Counted int          `json:"counted" doc:"number of counted calls"`
	More    bool         `json:"more" doc:"there were more calls than admin.map.records in the window; only the newest count, and since is the end of the oldest of them"`
	Steps   []courseStep `json:"steps" doc:"steps of the window, latest last; steps before since are empty"`
	Reasons []setback    `json:"reasons" doc:"reasons of denied and failed calls, most frequent first"`
}

// courseStep is what there was in one step.
type courseStep struct {
	Calls  int     `json:"calls"`
	Denied int     `json:"denied" doc:"calls among them that were denied"`
	Failed int     `json:"failed" doc:"calls among them that failed for another reason"`
	P50    float64 `json:"p50,omitzero" doc:"median time in ms from arrival to the last byte, of unary calls that the agent answered; absent without such calls"`
	P95    float64 `json:"p95,omitzero"`
	P99    float64 `json:"p99,omitzero"`
}

// setback is why calls did not go well.
type setback struct {
	Reason string `json:"reason" doc:"reason, as in audit records; unknown if they have none"`
	Calls  int    `json:"calls"`
	Denied bool   `json:"denied" doc:"the calls were denied"`
}

// courses counts how calls went. It keeps nothing between two requests: each reads the
// records of the window anew.
type courses struct {
	log  Records
	most int // calls that are counted
}

// CourseScreen says how calls of one agent went. It reads the audit log, as the map does.
func CourseScreen(log Records, most int) api.Screen {
	s := &courses{log, most}
	return api.Screen{
		Title: "Course of an agent",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/agents/{id}/course", ID: "agent-course", Tag: "audit", Role: api.Viewer,
			Summary: "Show outcomes and latency of the recent calls to one agent on record",
			Params: []api.Param{
				WindowParam,
			},
			Out: reflect.TypeFor[Course](), Errors: []api.Code{api.Busy}, Answer: s.course,
		}},
	}
}

// course answers from the newest calls of the agent in the window, at most s.most. Where
// there were more, the window is cut: Since then is when the oldest of the counted calls
// ended, and the steps before it are empty, not zero by measurement.
func (s *courses) course(c *api.Call) (any, error) {
	window := Window(c)
	until := time.Now().UTC()
	most := s.most
	list, err := s.log.Find(c.Context(), index.Query{
		Type: "call", Agent: c.PathValue("id"), From: until.Add(-window), Limit: most + 1, // one more: is there more?
	})
	if err != nil {
		return nil, err
	}
	t := newLapse(until.Add(-window), until)
	for _, e := range list[:min(len(list), most)] {
		var m timed
		if err := json.Unmarshal(e.Line, &m); err != nil {
			return nil, fmt.Errorf("read record %d: %w", e.Seq, err)
		}
		t.add(&m)
	}
	answer := t.course()
	if answer.More = len(list) > most; answer.More {
		answer.Since = t.oldest
	}
	return answer, nil
}

// timed is what the course takes of the record of a call. Durations are in milliseconds, as
// records have them.
type timed struct {
	mapped

	Streamed bool    `json:"streamed"`
	Duration float64 `json:"duration_ms"`
	Upstream float64 `json:"upstream_duration_ms"`
}

// lapse puts calls in the steps in which they ended. took has the durations of each step,
// from which its quantiles are made in the end.
type lapse struct {
	from, until, oldest time.Time
	steps               [courseSteps]courseStep
	took                [courseSteps][]float64
	reasons             map[setback]int // without their calls
}

// newLapse is a lapse without calls. The oldest call is none yet, which is until.
func newLapse(from, until time.Time) *lapse {
	return &lapse{from: from, until: until, oldest: until, reasons: map[setback]int{}}
}

// every is how long a step is.
func (l *lapse) every() time.Duration { return l.until.Sub(l.from) / courseSteps }

// add counts a call in the step in which it ended. Streams have no duration that could be
// compared with others', and calls that never reached the agent would make it look fast:
// neither is in the quantiles.
func (l *lapse) add(m *timed) {
	at := int(m.Time.Sub(l.from) / l.every())
	if m.Time.Before(l.from) || at >= courseSteps { // it ended as this was asked
		return
	}
	if m.Time.Before(l.oldest) {
		l.oldest = m.Time
	}
	step, v := &l.steps[at], m.volume()
	step.Calls += v.calls
	step.Denied += v.denied
	step.Failed += v.failed
	if m.Upstream > 0 && !m.Streamed {
		l.took[at] = append(l.took[at], m.Duration)
	}
	if v.denied+v.failed > 0 {
		why := setback{Reason: cmp.Or(m.Reason, "unknown"), Denied: v.denied > 0}
		// Reasons are from a closed list, but records of an earlier version may have
		// others. What is beyond the bound is "other".
		if _, known := l.reasons[why]; !known && len(l.reasons) >= mostReasons {
			why.Reason = "other"
		}
		l.reasons[why]++
	}
}

// course is what has come of it.
func (l *lapse) course() *Course {
	c := &Course{Since: l.from, Until: l.until, Every: l.every().Seconds(), Steps: l.steps[:], Reasons: []setback{}}
	for i := range c.Steps {
		c.Counted += c.Steps[i].Calls
		if took := l.took[i]; len(took) > 0 {
			slices.Sort(took)
			c.Steps[i].P50, c.Steps[i].P95, c.Steps[i].P99 = quantile(took, 50), quantile(took, 95), quantile(took, 99)
		}
	}
	for why, n := range l.reasons {
		why.Calls = n
		c.Reasons = append(c.Reasons, why)
	}
	// The name decides between reasons that are as frequent: a map has no order.
	slices.SortFunc(c.Reasons, func(a, b setback) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Reason, b.Reason))
	})
	return c
}

// quantile is the least of sorted values that so many percent are no more than. It is the
// nearest-rank method: of 10 values, the 95th percentile is the 10th. sorted is not empty.
func quantile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}
