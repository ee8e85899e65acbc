package rules

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
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// mostThrottled is how many of those who were refused are listed, the busiest first.
const mostThrottled = 200

// CallerLimits is the answer of GET /api/v1/policy/limits: what callers may do how often, and
// who met it.
type CallerLimits struct {
	OnLoss    string        `json:"onLoss" doc:"treatment of calls while the gateway cannot count them"`
	Limits    []CallerLimit `json:"limits" doc:"limits in the order of policy.limits.each"`
	Since     time.Time     `json:"since" doc:"start of the counted period"`
	Counted   int           `json:"counted" doc:"number of refused calls"`
	More      bool          `json:"more" doc:"there were more refusals than admin.map.records in the window; only the newest count, and since is the time of the oldest of them"`
	Throttled []Throttled   `json:"throttled" doc:"the 200 entries with most refusals, most refusals first"`
}

// CallerLimit is a limit as it counts.
type CallerLimit struct {
	Name     string        `json:"name"`
	Shadow   bool          `json:"shadow" doc:"the limit is in shadow mode: the gateway only records violations"`
	Key      []string      `json:"key" doc:"attributes by which the limit counts; if empty, it has one count for all calls"`
	Bounds   []CallerBound `json:"bounds"`
	Agents   []string      `json:"agents" doc:"agents that the limit applies to; empty for any. The same holds for the following lists"`
	Skills   []string      `json:"skills"`
	Methods  []string      `json:"methods"`
	Subjects []string      `json:"subjects"`
	Groups   []string      `json:"groups"`
	Issuers  []string      `json:"issuers"`
}

// CallerBound is one bound of a limit. Which members it has depends on What.
type CallerBound struct {
	What   string  `json:"what" doc:"kind of bound: rate, quota, concurrency, openTasks or bytes"`
	Units  int64   `json:"units" doc:"largest number of units; for a rate, the units that come back in a window"`
	Window float64 `json:"window,omitzero" doc:"window of a rate in seconds"`
	Per    string  `json:"per,omitzero" doc:"period of a quota: hour, day, week or month"`
	Burst  int64   `json:"burst,omitzero" doc:"units that a rate permits at once"`
}

// Throttled is a caller whose calls of an agent were refused for a limit. It is the key of
// a count while calls are counted, with Calls and Last zero then.
type Throttled struct {
	Limit  string    `json:"limit" doc:"name of the limit; for a limit of the listener, its key in server.limits"`
	Reason string    `json:"reason" doc:"reason of the refusals, as in audit records"`
	Caller string    `json:"caller,omitzero"`
	Issuer string    `json:"issuer,omitzero" doc:"issuer of the caller"`
	Agent  string    `json:"agent,omitzero"`
	Calls  int       `json:"calls"`
	Last   time.Time `json:"last" doc:"time of the latest refusal"`
}

// limits counts who was refused for one. Nothing is kept between two requests.
type limits struct {
	policy Policy
	log    records.Records
	most   int // calls that are counted
}

// LimitsScreen is about the limits of callers. It reads the audit log, as the map does.
func LimitsScreen(policy Policy, log records.Records, most int) api.Screen {
	s := &limits{policy, log, most}
	return api.Screen{
		Title: "Limits of callers",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/policy/limits", ID: "list-limits", Tag: "audit", Role: api.Viewer,
			Summary: "List the limits of callers, and the callers recently refused by one, from the calls on record",
			Params: []api.Param{
				records.WindowParam,
			},
			Out: reflect.TypeFor[CallerLimits](), Errors: []api.Code{api.Busy}, Answer: s.limitsMet,
		}},
	}
}

// limitsMet answers with the limits of the configuration and, from the records of calls
// that were refused in the window, who was refused for which. Records are asked for by
// reason, which the index has; the key of a count is all of Throttled that is the same for
// its calls.
func (s *limits) limitsMet(c *api.Call) (any, error) {
	answer := &CallerLimits{
		Throttled: []Throttled{},
		Since:     time.Now().Add(-records.Window(c)).UTC(),
	}
	answer.Limits, answer.OnLoss = s.policy.Limits()
	refused := map[Throttled]*Throttled{} // by what is the same of them
	for _, reason := range []string{wire.RateLimited.Reason, wire.TooLarge.Reason} {
		if err := s.met(c, answer, reason, refused); err != nil {
			return nil, err
		}
	}
	for _, t := range refused {
		answer.Throttled = append(answer.Throttled, *t)
	}
	slices.SortFunc(answer.Throttled, func(a, b Throttled) int {
		return cmp.Or(b.Calls-a.Calls, b.Last.Compare(a.Last), cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Agent, b.Agent))
	})
	answer.Throttled = answer.Throttled[:min(len(answer.Throttled), mostThrottled)]
	return answer, nil
}

// met counts the calls that were refused for a reason. Those for which an agent refused
// them name no limit. Where there are more than s.most of them, the answer's Since moves to
// when the oldest that was counted was refused, so that it is true of all that is shown.
func (s *limits) met(c *api.Call, answer *CallerLimits, reason string, refused map[Throttled]*Throttled) error {
	most := s.most
	list, err := s.log.Find(c.Context(), index.Query{Type: "call", Reason: reason, From: answer.Since, Limit: most + 1}) // one more: is there more?
	if err != nil {
		return err
	}
	since := answer.Since
	for i, e := range list {
		var one struct {
			Time      time.Time `json:"time"`
			Limit     string    `json:"limit"`
			Principal string    `json:"principal"`
			Issuer    string    `json:"issuer"`
			Agent     string    `json:"agent"`
		}
		if err := json.Unmarshal(e.Line, &one); err != nil {
			return fmt.Errorf("read record %d: %w", e.Seq, err)
		}
		if i == most {
			answer.More, since = true, one.Time // the newest came first
			break
		}
		// An agent has refused it, or the listener for its size.
		if one.Limit == "" {
			continue
		}
		answer.Counted++
		key := Throttled{Limit: one.Limit, Reason: reason, Caller: one.Principal, Issuer: one.Issuer, Agent: one.Agent}
		t := refused[key]
		if t == nil {
			// Records come with the newest first, so that the first one is the last
			// refusal.
			first := key
			first.Last = one.Time
			t = &first
			refused[key] = t
		}
		t.Calls++
	}
	if since.After(answer.Since) {
		answer.Since = since
	}
	return nil
}
