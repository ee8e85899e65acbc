package rules

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// invalidDraft is the code of DraftInvalid.
var invalidDraft = api.Code{Name: "INVALID_DRAFT", Status: http.StatusBadRequest}

// DraftInvalid says what is wrong with the rules of a draft. Line is counted from 1, in the
// text that was sent.
type DraftInvalid struct {
	Line int // of the first of it; 0 where it has none
	Err  error
}

// Error implements error.
func (e DraftInvalid) Error() string { return e.Err.Error() }

// Refusal is what the operator is told of it.
func (e DraftInvalid) Refusal() *api.Refusal {
	return &api.Refusal{Code: invalidDraft, Message: e.Error(), Line: e.Line}
}

// replays puts calls to drafts of the rules.
type replays struct {
	policy Policy
	bounded
}

// ReplayScreen tries rules on calls that were made: so many at most, in so much time.
func ReplayScreen(policy Policy, most ReplayBounds, time time.Duration) api.Screen {
	s := &replays{policy: policy, bounded: bounded{most: most, time: time}}
	return api.Screen{
		Title: "Replay of recorded calls",
		Operations: []api.Operation{{
			Method: http.MethodPost, Path: "/api/v1/policy/replay", ID: "replay", Tag: "policy", Role: api.Viewer,
			Summary: "Find recorded calls that other rules would decide differently, without changing anything",
			In:      reflect.TypeFor[verdict.Draft](), Out: reflect.TypeFor[verdict.Replayed](),
			Errors: []api.Code{api.InvalidQuestion, invalidDraft, replayLimit, api.Busy}, Answer: s.replay,
		}, {
			Method: http.MethodPost, Path: "/api/v1/policy/check", ID: "check-rules", Tag: "policy", Role: api.Viewer,
			Summary: "Find mistakes in a draft of the rules, without changing anything",
			In:      reflect.TypeFor[written](), Out: reflect.TypeFor[verdict.Checked](),
			Errors: []api.Code{api.InvalidQuestion}, Answer: s.check,
		}},
	}
}

// mostMistakes is how many mistakes and warnings of a draft are told: whoever writes mends the
// first, and asks again with the next change.
const mostMistakes = 50

// written are the rules that somebody writes.
type written struct {
	Rules string `json:"rules" doc:"YAML in the form of policy.rules, or with the key rules: around it"`
}

// check reads and compiles a draft. What is wrong with it is the answer and no error: while
// somebody writes, most drafts are wrong for a moment.
func (s *replays) check(c *api.Call) (any, error) {
	var w written
	if err := c.Decode(&w, api.InvalidQuestion); err != nil {
		return nil, err
	}
	answer, err := s.policy.Check(w.Rules)
	if err != nil {
		return nil, err
	}
	answer.Mistakes = answer.Mistakes[:min(len(answer.Mistakes), mostMistakes)]
	answer.Warnings = answer.Warnings[:min(len(answer.Warnings), mostMistakes)]
	return answer, nil
}

func (s *replays) replay(c *api.Call) (any, error) {
	var d verdict.Draft
	if err := c.Decode(&d, api.InvalidQuestion); err != nil {
		return nil, err
	}
	b, done, err := s.begin(d.Records, d.Since, d.Until)
	if err != nil {
		return nil, err
	}
	defer done()
	var answer *verdict.Replayed
	err = s.within(c.Context(), d.Records, func(ctx context.Context) (more bool, err error) {
		if answer, err = s.policy.Replay(ctx, &d, b); err != nil {
			return false, err
		}
		return answer.More, nil
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
