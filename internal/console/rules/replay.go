package rules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Codes of drafts.
var (
	invalidDraft = api.Code{Name: "INVALID_DRAFT", Status: http.StatusBadRequest}
	replayLimit  = api.Code{Name: "REPLAY_LIMIT", Status: http.StatusBadRequest}
)

// ReplayBounds are those of one replay. They come from admin.replay.
type ReplayBounds struct {
	Records int   // calls that are looked at; of more, the answer says that there are more
	Sample  int   // calls of each kind of change in the answer
	Bytes   int64 // of captured content that guards look at
}

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

// replays puts calls to drafts, one at a time. busy bounds the work to one replay at a
// time: each runs all rules on up to admin.replay.records calls.
type replays struct {
	policy Policy
	most   ReplayBounds
	time   time.Duration
	busy   sync.Mutex // held while somebody replays calls
}

// ReplayScreen tries rules on calls that were made: so many at most, in so much time.
func ReplayScreen(policy Policy, most ReplayBounds, time time.Duration) api.Screen {
	s := &replays{policy: policy, most: most, time: time}
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

// replay is one at a time: it reads much of the log, and works as long as it may. The
// bounds refuse instead of cutting short: an answer about a part of the calls would look
// like one about all of them. Who asks for a number of the newest gets just those.
func (s *replays) replay(c *api.Call) (any, error) {
	var d verdict.Draft
	if err := c.Decode(&d, api.InvalidQuestion); err != nil {
		return nil, err
	}
	b, err := s.most.within(d.Records, d.Since, d.Until)
	if err != nil {
		return nil, err
	}
	if !s.busy.TryLock() {
		return nil, onlyOne()
	}
	defer s.busy.Unlock()
	// Shorter than the time of the answer, so that there is time to say what was too much.
	ctx, cancel := context.WithTimeout(c.Context(), s.time)
	defer cancel()
	answer, err := s.policy.Replay(ctx, &d, b)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, tooLong(s.time)
	case err != nil:
		return nil, err
	case answer.More && d.Records == 0:
		return nil, tooMany(b.Records)
	}
	return answer, nil
}

// within are the bounds of a replay of so many records, 0 for all, of a time. Where no number is named it is tried on
// all, up to as many as there may be.
func (b ReplayBounds) within(asked int, since, until time.Time) (ReplayBounds, error) {
	switch {
	case asked < 0:
		return b, api.QuestionInvalid{Member: "records", Err: errors.New("want a number from 1")}
	case asked > b.Records:
		return b, replayLimit.Refuse(fmt.Sprintf("records: %d calls are more than %d (admin.replay.records)", asked, b.Records))
	case !until.IsZero() && !since.Before(until):
		return b, api.QuestionInvalid{Member: "until", Err: errors.New("it ends before it begins")}
	case asked > 0:
		b.Records = asked
	}
	return b, nil
}

func onlyOne() error {
	return api.Busy.Refuse("somebody replays calls already; that is done by one at a time")
}

func tooLong(allowed time.Duration) error {
	return replayLimit.Refuse(fmt.Sprintf("%s were not enough to replay that (admin.replay.time): ask for a shorter time, or for fewer records", quantity.Duration(allowed)))
}

func tooMany(most int) error {
	return replayLimit.Refuse(fmt.Sprintf("there are more than %d calls (admin.replay.records): ask for a shorter time, or for so many of the newest", most))
}
