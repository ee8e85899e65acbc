package overview

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/telemetry/history"
)

// History is how the gateway did.
type History interface {
	// Between is what there was from one time until another, as far as it is known.
	Between(from, until time.Time) history.Span
}

// Overview is the answer of GET /api/v1/overview: how the gateway did lately, at this gateway.
type Overview struct {
	Counted bool      `json:"counted" doc:"the gateway counts calls; if telemetry.metrics.enabled is false, there are no numbers of calls"`
	Since   time.Time `json:"since" doc:"start of the first step"`
	Until   time.Time `json:"until"`
	Every   float64   `json:"every" doc:"length of a step in seconds"`
	Began   time.Time `json:"began" doc:"start of the gateway, before which nothing is known; the gateway keeps at most a day"`
	Watched float64   `json:"watched" doc:"seconds between since and until for which the gateway has data"`

	tally

	Rate float64 `json:"rate" doc:"calls per second, over the time for which the gateway has data"`

	times

	Steps []overviewStep `json:"steps" doc:"steps in order of time, latest last"`

	Streams    int       `json:"streams" doc:"event streams open now"`
	Webhooks   int       `json:"webhooks" doc:"push notifications that wait for delivery, counted within the last ten seconds"`
	Agents     []inState `json:"agents" doc:"number of agents in each state now; states without agents are absent"`
	Dashboards string    `json:"dashboards,omitzero" doc:"URL of further dashboards (admin.dashboards)"`
}

// tally is how many calls there were, and what became of them.
type tally struct {
	Calls  int `json:"calls" doc:"ended calls"`
	Denied int `json:"denied" doc:"calls among them that were denied"`
	Failed int `json:"failed" doc:"calls among them that failed for another reason"`
}

// times are how long calls took that are no streams, those refused included.
type times struct {
	P50 float64 `json:"p50,omitzero" doc:"median time in ms from arrival to the last byte, of calls that are not streams, estimated from the buckets of request_duration_seconds; absent without calls, and at most the last bound"`
	P95 float64 `json:"p95,omitzero"`
	P99 float64 `json:"p99,omitzero"`
}

// overviewStep is what there was in one step.
type overviewStep struct {
	Watched float64 `json:"watched" doc:"seconds of the step for which the gateway has data; 0 for none"`

	tally
	times

	Streams  int `json:"streams" doc:"largest number of open streams"`
	Webhooks int `json:"webhooks" doc:"largest number of waiting push notifications"`
}

// inState is how many agents are in a state.
type inState struct {
	State  string `json:"state,omitzero" doc:"state of these agents; absent for agents that the gateway does not serve"`
	Agents int    `json:"agents"`
}

// screen answers with what the sources say at the moment.
type screen struct {
	history    History
	agents     fleet.Agents
	dashboards string
}

// Screen is the home of the console. Without a history nothing is counted, and it says so.
func Screen(past History, agents fleet.Agents, dashboards string) api.Screen {
	s := &screen{past, agents, dashboards}
	return api.Screen{
		Title: "Overview", Page: "/", Link: true,
		Shows: "the home page: calls per second, failed and denied calls, latency, open streams and waiting webhooks, over the last 15 minutes to 24 hours or between two times; top callers, agents by state, the last changes; [meaning of the numbers](#overview)",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/overview", ID: "overview", Tag: "gateway", Role: api.Viewer,
			Summary: "Show the recent activity of this gateway: calls with outcomes and latency, streams, webhooks, agents by state",
			Params:  records.BetweenParams,
			Out:     reflect.TypeFor[Overview](), Answer: s.overview,
		}},
	}
}

func (s *screen) overview(c *api.Call) (any, error) {
	from, until, err := records.Between(c)
	if err != nil {
		return nil, err
	}
	answer := Overview{Since: from, Until: until, Began: until, Steps: []overviewStep{}, Dashboards: s.dashboards}
	if s.history != nil {
		answer.fill(s.history.Between(from, until))
	}
	all, err := s.agents.All(c.Context())
	if err != nil {
		return nil, err
	}
	answer.Agents = states(all)
	return answer, nil
}

// fill takes over what is known of the past.
func (o *Overview) fill(past history.Span) {
	o.Counted, o.Since, o.Until, o.Began = true, past.Since, past.Until, past.Began.UTC()
	o.Streams, o.Webhooks = past.Streams, past.Webhooks
	o.Every, o.Watched = past.Every.Seconds(), past.Total.Lasted.Seconds()
	o.tally = tallyOf(&past.Total)
	if o.Watched > 0 {
		o.Rate = float64(o.Calls) / o.Watched
	}
	o.times = timesOf(&past, &past.Total)
	for i := range past.Steps {
		st := &past.Steps[i]
		o.Steps = append(o.Steps, overviewStep{
			Watched: st.Lasted.Seconds(), tally: tallyOf(st), times: timesOf(&past, st),
			Streams: st.Streams, Webhooks: st.Webhooks,
		})
	}
}

// tallyOf is that of a step.
func tallyOf(st *history.Step) tally {
	return tally{Calls: int(st.Calls), Denied: int(st.Denied), Failed: int(st.Failed())} //nolint:gosec // calls of a day
}

// timesOf are those of a step in milliseconds.
func timesOf(past *history.Span, st *history.Step) times {
	ms := func(q float64) float64 { return past.Quantile(st, q) * float64(time.Second/time.Millisecond) }
	return times{P50: ms(.5), P95: ms(.95), P99: ms(.99)}
}

// states counts agents by what they are, as the page Fleet does.
func states(all []fleet.Agent) []inState {
	list := []inState{}
	for i := range all {
		at := slices.IndexFunc(list, func(s inState) bool { return s.State == all[i].State })
		if at < 0 {
			at = len(list)
			list = append(list, inState{State: all[i].State})
		}
		list[at].Agents++
	}
	slices.SortFunc(list, func(a, b inState) int { return cmp.Compare(a.State, b.State) })
	return list
}
