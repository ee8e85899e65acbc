package records

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// refused is the answer of GET /api/v1/audit/records/{id}/refusal.
type refused struct {
	Stage  string `json:"stage" doc:"stage of the request path that refused the call: routing, authentication, decoding, ownership, policy, limits, negotiation, forwarding, gateway"`
	Rule   string `json:"rule,omitzero" doc:"rule that refused the call; or default, credential and the like if no rule did"`
	Place  string `json:"place,omitzero" doc:"place of the rule in the configuration in force, as FILE:LINE; absent if it has no such rule"`
	Limit  string `json:"limit,omitzero" doc:"limit that refused the call"`
	Cause  string `json:"cause,omitzero" doc:"cause in the words of the gateway, which the caller does not see"`
	Remedy string `json:"remedy" doc:"what the operator or the caller can do about it"`
	Code   int    `json:"code,omitzero" doc:"code of the JSON-RPC error for this refusal"`
}

// notRefused: the gateway let the call through, or the record is not of a call.
var notRefused = api.Code{Name: "NOT_REFUSED", Status: http.StatusNotFound}

// refusal answers why the call of a record was refused.
func (s *pairs) refusal(c *api.Call) (any, error) {
	_, line, err := s.oneRecord(c)
	if err != nil {
		return nil, err
	}
	call, err := reader.Entry{Line: line}.Call()
	if err != nil {
		return nil, err
	}
	if call == nil {
		return nil, notRefused.Refuse("the record of this number is not that of a call which has ended")
	}
	r := refusal.Of(call)
	if r == nil {
		return nil, notRefused.Refuse("the gateway let the call through; what the agent answered to it is the agent's")
	}
	said := refused{Stage: r.Stage, Rule: r.Rule, Limit: r.Limit, Cause: r.Cause, Remedy: r.Remedy, Code: r.Code}
	if r.Rule != "" {
		said.Place = s.places.RulePlace(r.Rule)
	}
	return said, nil
}
