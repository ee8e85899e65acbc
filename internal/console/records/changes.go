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

// recentChanges is the answer of GET /api/v1/changes: what was changed last.
type recentChanges struct {
	Changes []recentChange `json:"changes" doc:"changes, newest first"`
}

// recentChange is one change, as an event of the audit log has it.
type recentChange struct {
	Seq     int       `json:"seq" doc:"number of the audit record"`
	Time    time.Time `json:"time"`
	Event   string    `json:"event" doc:"kind of event, as listed in docs/audit.md"`
	What    string    `json:"what,omitzero" doc:"agent or key that changed"`
	Who     string    `json:"who,omitzero" doc:"who made the change through the admin API; absent for other changes"`
	Outcome string    `json:"outcome,omitzero" doc:"outcome of a change that failed"`
}

// kinds are the events that are changes: of the configuration, of cards, of keys, of the fleet.
var kinds = []string{
	"config.reloaded",
	"card.changed", "card.quarantined", "card.refused", "card.approved", "card.rejected",
	"key.created", "key.rotated", "key.revoked",
	"agent.added", "agent.changed", "agent.removed",
}

const (
	usualChanges = 10
	mostChanges  = 50
)

// history looks for changes.
type history struct{ log Records }

// ChangesScreen says what was changed last.
func ChangesScreen(log Records) api.Screen {
	s := &history{log}
	return api.Screen{
		Title: "Last changes",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/changes", ID: "list-changes", Tag: "audit", Role: api.Viewer,
			Summary: "List the last changes on record: configurations, cards, API keys, registered agents",
			Params: []api.Param{
				{Name: "until", Text: "only changes before this time (RFC 3339)"},
				{Name: "top", Text: "number of changes, newest first; default: 10", Least: 1, Most: mostChanges},
			},
			Out: reflect.TypeFor[recentChanges](), Errors: []api.Code{api.Busy}, Answer: s.changes,
		}},
	}
}

// changes asks the index for each kind: it has their places, so that the calls in between,
// however many, are not read.
func (s *history) changes(c *api.Call) (any, error) {
	until, err := c.Time("until", time.RFC3339)
	if err != nil {
		return nil, err
	}
	top := cmp.Or(c.Number("top"), usualChanges)
	answer := recentChanges{Changes: []recentChange{}}
	for _, kind := range kinds {
		list, err := s.log.Find(c.Context(), index.Query{Event: kind, Until: until, Limit: top})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			one, err := change(e.Seq, e.Line)
			if err != nil {
				return nil, err
			}
			answer.Changes = append(answer.Changes, one)
		}
	}
	slices.SortFunc(answer.Changes, func(a, b recentChange) int { return cmp.Compare(b.Seq, a.Seq) })
	answer.Changes = answer.Changes[:min(len(answer.Changes), top)]
	return answer, nil
}

// change reads what is told of one.
func change(seq uint64, line []byte) (recentChange, error) {
	var e struct {
		Time  time.Time `json:"time"`
		Event string    `json:"event"`
		Attrs struct {
			Agent   string `json:"agent"`
			Key     string `json:"key_id"`
			Who     string `json:"who"`
			Outcome string `json:"outcome"`
		} `json:"attrs"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return recentChange{}, fmt.Errorf("read record %d: %w", seq, err)
	}
	return recentChange{Seq: int(seq), Time: e.Time, Event: e.Event, What: cmp.Or(e.Attrs.Agent, e.Attrs.Key), Who: e.Attrs.Who, Outcome: e.Attrs.Outcome}, nil //nolint:gosec // as many records as that are never written
}
