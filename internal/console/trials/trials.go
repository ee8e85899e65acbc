package trials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Trials makes calls as callers make them.
type Trials interface {
	// Prepare makes a request of an attempt, and sends nothing yet. The error is an
	// AttemptInvalid where it is the operator's to mend.
	Prepare(ctx context.Context, a *Attempt) (Prepared, error)
}

// Prepared is a request that was made of an attempt. It is sent once.
type Prepared interface {
	// Send makes the call at the public listener, and waits for its end, that of ctx, or a
	// bound. A connection that fails is a result as well. watch, unless it is nil, is told of
	// the call while it goes on, from one goroutine at a time; the call waits for it.
	Send(ctx context.Context, b Bounds, watch func(Event)) *Trial
}

// Bounds are those of a call that is tried.
type Bounds struct {
	Time    time.Duration
	TimeKey string // of the configuration, which has Time: how a call ended that takes longer
	Answer  int64  // bytes
}

// Event is something that happened to a call that goes on. Its data is what the event of
// that name has in the stream: sent has a Sent, head a Head, piece a Piece.
type Event struct {
	Name string
	Data any
}

// Sent is what the event of that name has: the call is on its way.
type Sent struct {
	Sent    string `json:"sent"`
	Command string `json:"command,omitzero"`
}

// Head is what the event of that name has: the answer has begun.
type Head struct {
	Status  int      `json:"status"`
	Request string   `json:"request,omitzero"`
	Active  []string `json:"active"`
}

// AttemptInvalid says why a call could not be made, and what of it is wrong.
type AttemptInvalid struct {
	Member string
	Err    error
}

// Error implements error.
func (e AttemptInvalid) Error() string { return e.Member + ": " + e.Err.Error() }

// Refusal is what the operator is told of it.
func (e AttemptInvalid) Refusal() *api.Refusal {
	return &api.Refusal{Code: invalidCall, Message: e.Error()}
}

// invalidCall: the call cannot be made as it is asked for.
var invalidCall = api.Code{Name: "INVALID_CALL", Status: http.StatusBadRequest}

// Attempt is the body of POST /api/v1/try: a call to make.
type Attempt struct {
	Agent      string         `json:"agent"`
	Skill      string         `json:"skill,omitzero" doc:"skill in the path; default: none"`
	Version    string         `json:"version" doc:"version of A2A: 1.0, 0.3 or 0.1"`
	Binding    string         `json:"binding" doc:"binding: JSONRPC, HTTP+JSON or GRPC"`
	Method     string         `json:"method" doc:"method by its 1.0 name, such as SendMessage"`
	Params     jsontext.Value `json:"params,omitzero" doc:"params of the method, in the form of the version"`
	Extensions []string       `json:"extensions,omitzero" doc:"URIs of extensions to request in the header of the version"`
	APIKey     string         `json:"apiKey,omitzero" doc:"API key of the caller; the gateway does not keep, record or show it"`
	Bearer     string         `json:"bearer,omitzero" doc:"token of the caller, instead of an API key; the gateway does not keep, record or show it"`
}

// Trial is the answer of POST /api/v1/try: what was sent and what came of it.
type Trial struct {
	Sent     string      `json:"sent" doc:"sent bytes of HTTP/1.1, without the credential; over gRPC, the header fields and the message frames in hexadecimal"`
	Command  string      `json:"command,omitzero" doc:"the call as a curl command, with $CREDENTIAL instead of the credential; absent over gRPC"`
	Received string      `json:"received" doc:"received bytes, as far as they came"`
	Status   int         `json:"status,omitzero" doc:"status of the answer; 0 without an answer"`
	Request  string      `json:"request,omitzero" doc:"id of the call in records and logs"`
	GRPC     string      `json:"grpc,omitzero" doc:"gRPC status with its message, if not OK"`
	Pieces   []Piece     `json:"pieces" doc:"pieces of the answer's body as they came; over gRPC, its messages in JSON"`
	Ended    string      `json:"ended" doc:"complete, or what cut the call short: admin.try.timeout, admin.try.streamTimeout, admin.try.answer, failed"`
	Failure  string      `json:"failure,omitzero" doc:"why there is no answer, or no complete one"`
	Took     float64     `json:"took" doc:"duration of the call in milliseconds"`
	Asked    []string    `json:"asked" doc:"requested extensions"`
	Active   []string    `json:"active" doc:"extensions that are active according to the answer"`
	Forms    []TrialForm `json:"forms" doc:"the call in each version and binding, as the gateway translates it"`
}

// Piece is a part of an answer's body.
type Piece struct {
	At   float64 `json:"at" doc:"milliseconds since the call began"`
	Text string  `json:"text"`
}

// TrialForm is a call and its answer in one version and binding.
type TrialForm struct {
	Version string   `json:"version"`
	Binding string   `json:"binding"`
	Caller  bool     `json:"caller" doc:"the call had this version and binding"`
	Agent   bool     `json:"agent" doc:"the agent's card has an interface for it"`
	Verb    string   `json:"verb,omitzero"`
	Path    string   `json:"path,omitzero" doc:"path below the interface's URL, with query"`
	Body    string   `json:"body,omitzero"`
	Answers []string `json:"answers,omitzero" doc:"JSON documents: the answer, or each event"`
	Problem string   `json:"problem,omitzero" doc:"why the call or its answer does not exist in this version and binding"`
}

// Options are what calls need that are tried.
type Options struct {
	Trials Trials
	Calls  int // at a time
	Answer int64
	// Timeout is of a call whose answer comes at its end, StreamTimeout of one that is shown
	// as it goes on.
	Timeout, StreamTimeout time.Duration
	// Admitted says whether who began a stream may still look.
	Admitted func(*http.Request) bool
}

// screen makes calls.
type screen struct {
	Options

	trying chan struct{} // holds one for each call that is being tried
	open   context.Context
	close  context.CancelFunc
}

// Screen makes a call as a caller would: so many at a time, each of which takes so long and
// has so much of an answer shown.
func Screen(o Options) api.Screen {
	s := &screen{Options: o, trying: make(chan struct{}, o.Calls)}
	s.open, s.close = context.WithCancel(context.Background()) //nolint:gosec // the screen calls it when it is closed
	return api.Screen{
		Title: "Try it", Page: "/try", Link: true, Close: s.close,
		Shows: "make a call to an agent with a credential, in any version and binding; events as they come, until they end or you cancel; the bytes on the wire, the active extensions, and the call with its answer in the other versions and bindings",
		Operations: []api.Operation{{
			Method: http.MethodPost, Path: "/api/v1/try", ID: "try", Tag: "try", Role: api.Operator, Writes: true,
			Summary: "Make a call to the public listener with a credential, and show the bytes on the wire. The gateway authorizes and records it like any call. " +
				"With Accept: text/event-stream, the answer shows the call while it runs: sent has the request, head marks the start of the answer, piece has a part of it, " +
				"trial has the whole result as in JSON, and end says why the events end",
			In: reflect.TypeFor[Attempt](), Out: reflect.TypeFor[Trial](), Media: eventStream, Errors: []api.Code{invalidCall, api.Busy},
			Answer: s.try,
		}},
	}
}

// try makes a call. Where events are asked for, the place among the calls is given back by
// the handler that shows them: the answer is written after this returns.
func (s *screen) try(c *api.Call) (any, error) {
	a, err := attempt(c)
	if err != nil {
		return nil, err
	}
	select {
	case s.trying <- struct{}{}:
	default:
		return nil, api.Busy.Refuse(fmt.Sprintf("%d calls are being tried already (admin.try.calls)", cap(s.trying)))
	}
	leave := func() { <-s.trying }
	var ready Prepared
	err = c.Change("call.tried", map[string]string{"agent": a.Agent, "method": a.Method}, nil, func(ctx context.Context) (bool, error) {
		ready, err = s.Trials.Prepare(ctx, a)
		return true, err
	})
	if err != nil {
		leave()
		return nil, err
	}
	if asksForEvents(c.Header) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer leave()
			s.stream(w, r, ready)
		}), nil
	}
	defer leave()
	return ready.Send(c.Context(), Bounds{s.Timeout, "admin.try.timeout", s.Answer}, nil), nil
}

// attempt reads the call that is to be made.
func attempt(c *api.Call) (*Attempt, error) {
	a := new(Attempt)
	if err := c.Decode(a, invalidCall); err != nil {
		return nil, err
	}
	return a, a.check()
}

// check bounds what comes on record.
func (a *Attempt) check() error {
	switch {
	case !api.ValidID(a.Agent):
		return AttemptInvalid{Member: "agent", Err: errors.New("it is no agent's id")}
	case len(a.Method) > longestMethod:
		return AttemptInvalid{Member: "method", Err: errors.New("A2A has none of that length")}
	case a.APIKey != "" && a.Bearer != "":
		return AttemptInvalid{Member: "bearer", Err: errors.New("there is an API key already: a caller has one credential")}
	}
	return nil
}

const longestMethod = 64
