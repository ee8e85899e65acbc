package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Replay is admin.replay: recorded calls that are put to the rules of a draft.
type Replay struct {
	// Records is how many calls are looked at, at most; default 100000. A request for more
	// is refused.
	Records int `yaml:"records"`
	// Time is how long that may take; default 10s, at most 15s. What takes longer is refused.
	Time secret.Duration `yaml:"time"`
	// Sample is how many calls of each kind of change are shown; default 100.
	Sample int `yaml:"sample"`
}

const (
	usualReplayed = 100_000
	mostReplayed  = 10_000_000
	usualReplay   = secret.Duration(10 * time.Second)
	usualSample   = 100
	mostSample    = 10_000
)

func (r *Replay) defaults() {
	if r.Records == 0 {
		r.Records = usualReplayed
	}
	if r.Time == 0 {
		r.Time = usualReplay
	}
	if r.Sample == 0 {
		r.Sample = usualSample
	}
}

func (r Replay) validate() error {
	switch {
	case r.Records < 0 || r.Records > mostReplayed:
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostReplayed), "replay", "records")
	case r.Time < 0 || r.Time.Std() > answerTimeout:
		return keypath.At(fmt.Errorf("want more than 0s and at most %s", secret.Duration(answerTimeout)), "replay", "time")
	case r.Sample < 0 || r.Sample > mostSample:
		return keypath.At(fmt.Errorf("want a number from 1 to %d", mostSample), "replay", "sample")
	}
	return nil
}

// ReplayBounds are those of one replay.
type ReplayBounds struct {
	Records int // calls that are looked at; of more, the answer says that there are more
	Sample  int // calls of each kind of change in the answer
}

// DraftInvalid says what is wrong with the rules of a draft.
type DraftInvalid struct {
	Line int // of the first of it; 0 where it has none
	Err  error
}

// Error implements error.
func (e DraftInvalid) Error() string { return e.Err.Error() }

// replayOperation tries rules on calls that were made.
var replayOperation = operation{
	method: http.MethodPost, path: "/api/v1/policy/replay", id: "replay", tag: "policy", role: Viewer,
	summary: "Which recorded calls would be decided otherwise under other rules; nothing changes",
	in:      reflect.TypeFor[verdict.Draft](), out: reflect.TypeFor[verdict.Replayed](),
	errors: []string{codeInvalidQuestion, codeInvalidDraft, codeReplayLimit, codeBusy}, answer: (*Console).replay,
}

// replay is one at a time: it reads much of the log, and works as long as it may.
func (s *Console) replay(c *call) (any, error) {
	doc, err := s.body(c)
	if err != nil {
		return nil, err
	}
	var d verdict.Draft
	if err := json.Unmarshal(doc, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, refuse(codeInvalidQuestion, "the body is no draft: "+err.Error())
	}
	most := s.config.Replay.Records
	switch {
	case d.Records < 0:
		return nil, QuestionInvalid{"records", errors.New("want a number from 1")}
	case d.Records > most:
		return nil, refuse(codeReplayLimit, fmt.Sprintf("records: %d calls are more than %d (admin.replay.records)", d.Records, most))
	case !d.Until.IsZero() && !d.Since.Before(d.Until):
		return nil, QuestionInvalid{"until", errors.New("it ends before it begins")}
	}
	if !s.replaying.TryLock() {
		return nil, refuse(codeBusy, "somebody replays calls already; that is done by one at a time")
	}
	defer s.replaying.Unlock()
	ctx, cancel := context.WithTimeout(c.Context(), s.config.Replay.Time.Std())
	defer cancel()
	b := ReplayBounds{Records: most, Sample: s.config.Replay.Sample}
	if d.Records > 0 {
		b.Records = d.Records
	}
	answer, err := s.Policy.Replay(ctx, &d, b)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, refuse(codeReplayLimit, fmt.Sprintf("%s were not enough to replay that (admin.replay.time): ask for a shorter time, or for fewer records", s.config.Replay.Time))
	case err != nil:
		return nil, err
	case answer.More && d.Records == 0:
		return nil, refuse(codeReplayLimit, fmt.Sprintf("there are more than %d calls (admin.replay.records): ask for a shorter time, or for so many of the newest", most))
	}
	return answer, nil
}
