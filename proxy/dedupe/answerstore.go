package dedupe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// AnswerStore remembers, encrypted, what became of messages, for callers who send them again.
type AnswerStore struct {
	Sealer    cursors.Sealer
	Telemetry *telemetry.Telemetry
	Values    state.Values
}

// dedupeSpace is where messages are remembered, and what their answers are sealed for.
const dedupeSpace = "dedupe"

// processed is what is remembered of a message. In the store it is sealed.
type processed struct {
	Digest []byte    `json:"digest"`
	Until  time.Time `json:"until,omitzero"` // on its way, at the latest until then
	Lost   bool      `json:"lost,omitzero"`  // whether the agent has taken it is not known
	Task   string    `json:"task,omitzero"`  // that the answer showed

	// The answer to a caller of Side, where it is kept.
	Side   string      `json:"side,omitzero"`
	Status int         `json:"status,omitzero"`
	Header http.Header `json:"header,omitzero"` // trailers have http.TrailerPrefix
	Body   []byte      `json:"body,omitzero"`
}

// answered takes the answer that the response at hand has sent. What the header held
// before is about the one call.
//
// Fields that were there before the call was forwarded, such as X-Request-Id, belong to the
// request and not to the answer.
func (k *processed) answered(x *exchange.Exchange, side string, before http.Header) {
	k.Side, k.Status, k.Body = side, x.Writer.Status, x.Writer.Copy.Bytes()
	k.Header = http.Header{}
	for name, values := range x.Writer.Header() {
		// What it says to pages is about the one that asked.
		forPages := x.Writer.Readers != nil && strings.HasPrefix(name, "Access-Control-")
		if name != "Content-Length" && !forPages && !slices.Equal(before[name], values) {
			k.Header[name] = values
		}
	}
}

// purposed seals for one purpose.
type purposed struct {
	cursors.Sealer
	purpose string
}

// Seal implements state.Cipher.
func (c purposed) Seal(plain, aad []byte) []byte { return c.Sealer.Seal(c.purpose, plain, aad) }

// Open implements state.Cipher.
func (c purposed) Open(sealed, aad []byte) ([]byte, error) {
	return c.Unseal(c.purpose, sealed, aad)
}

// remembered is the store behind encryption: who reads the database reads no answers.
func (as *AnswerStore) remembered() state.Values {
	return state.Sealed(as.Values, purposed{as.Sealer, dedupeSpace})
}

// reserve claims a message for this exchange, or finds what has become of it.
//
// It returns nil, nil where the claim is this exchange's. What is claimed and neither answered
// nor given up by Until counts as lost.
func (as *AnswerStore) reserve(x *exchange.Exchange, key string, digest [32]byte) (*processed, error) {
	// Whoever claimed it and has not said more by then has died.
	until := time.Now().Add(x.Agent.Upstream.Timeout(x.Call.Method.Name) + time.Minute)
	claim, err := json.Marshal(processed{Digest: digest[:], Until: until})
	if err != nil {
		return nil, err
	}
	values := as.remembered()
	for range 2 { // what is there may run out just now
		if added, err := values.Add(x.Ctx, dedupeSpace, key, claim, x.Agent.Dedupe.Window.Std()); err != nil || added {
			return nil, err
		}
		data, ok, err := values.Get(x.Ctx, dedupeSpace, key)
		if err != nil {
			return nil, err
		}
		if ok {
			known := new(processed)
			return known, json.Unmarshal(data, known)
		}
	}
	return &processed{Digest: digest[:], Until: until}, nil
}

// keep remembers what became of a message. Where that fails the claim stands, and the
// message is not sent again either.
func (as *AnswerStore) keep(x *exchange.Exchange, key string, k *processed) {
	kept := *k
	if len(kept.Body) > x.Agent.Dedupe.MaxAnswer() {
		kept.withoutAnswer()
	}
	err := as.memorise(x, key, &kept)
	if errors.Is(err, state.ErrFull) && kept.Status != 0 {
		kept.withoutAnswer() // who sends it again learns which task it made
		err = as.memorise(x, key, &kept)
	}
	if err != nil {
		as.Telemetry.Log.Warn("what became of a message could not be stored; it will not be sent again (agents[].dedupe)",
			"request_id", x.Rec.RequestID, "error", err)
	}
}

// memorise writes it down without the call's context: the client may have left, and the next one
// needs it.
func (as *AnswerStore) memorise(x *exchange.Exchange, key string, k *processed) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return as.remembered().Put(context.WithoutCancel(x.Ctx), dedupeSpace, key, data, x.Agent.Dedupe.Window.Std())
}

// withoutAnswer keeps that it was processed, and the task, and drops the answer itself.
func (k *processed) withoutAnswer() { k.Side, k.Status, k.Header, k.Body = "", 0, nil, nil }

// forget lets a message be sent again that the agent has not had.
func (as *AnswerStore) forget(x *exchange.Exchange, key string) {
	if err := as.Values.Delete(context.WithoutCancel(x.Ctx), dedupeSpace, key); err != nil {
		as.Telemetry.Log.Warn("a message that the agent has not had stays claimed (agents[].dedupe)",
			"request_id", x.Rec.RequestID, "error", err)
	}
}

// repeat answers a message by what became of the same one before.
func (as *AnswerStore) repeat(x *exchange.Exchange, k *processed, mine *Flight) error {
	x.Rec.Deduplicated = true
	if !bytes.Equal(k.Digest, mine.digest[:]) {
		return otherContent(x)
	}
	if x.Rec.TaskID == "" {
		x.Rec.TaskID = k.Task
	}
	switch {
	case time.Now().Before(k.Until):
		return inProgress()
	case k.Task == "" && (k.Lost || !k.Until.IsZero()):
		return before(x, k, "the message may have been processed before; its answer is lost")
	case k.Status == 0 || mine.stream || k.Side != mine.side:
		return before(x, k, "the message was processed before")
	}
	replayAnswer(x, k)
	return nil
}

// before refuses a message for what became of it, and names the task to get.
func before(x *exchange.Exchange, k *processed, text string) *wire.Error {
	e := wire.Errorf(wire.Duplicate, "%s", text)
	e.Meta = map[string]string{"messageId": x.Call.MessageID}
	if k.Task != "" {
		e.Message = fmt.Sprintf("%s: get task %s", text, k.Task)
		e.Meta["taskId"] = k.Task
	}
	return e
}

// replayAnswer gives the caller an answer that another exchange of the caller's got. Of it, the
// JSON-RPC id alone was about that one.
//
// Trailers of a gRPC answer go out behind the body, as net/http takes them by http.TrailerPrefix.
func replayAnswer(x *exchange.Exchange, k *processed) {
	body, h := k.Body, x.Writer.Header()
	if x.Call.Binding == wire.JSONRPC {
		if from, to := jsonscan.MemberSpan(body, "id"); to > 0 {
			body = jsonscan.Replaced(body, from, to, x.Call.ID)
		}
	}
	late := http.Header{}
	for name, values := range maps.All(k.Header) {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			late[name] = slices.Clone(values)
		} else {
			h[name] = slices.Clone(values)
		}
	}
	if x.Call.Binding != wire.GRPC && k.Status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	x.Writer.WriteHeader(k.Status)
	x.Send(body)
	maps.Copy(h, late)
}
