package proxy

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// foreign is a context id that belongs to somebody else, or to nobody knows whom, and what
// the agent sees in its place for this caller.
type foreign struct {
	agents string // the replacement
	id     string // the caller's; "" where nobody knows the other as a replacement
	sent   []byte // the caller's id as a JSON string, verbatim
	alias  []byte // the replacement as a JSON string
}

func newForeign(agents, callers string) foreign {
	return foreign{agents: agents, id: callers, sent: quoted(callers), alias: quoted(agents)}
}

// replaceContext gives a caller who used a context id that is not known as theirs a context
// of their own under that id. Refusing would tell them that the id is taken; passing
// it on would let them write into another caller's conversation. The replacement
// is the same every time, so that the conversation goes on. foreign is what the ledger says
// of the id; nil where it says that of a task.
func (ow *owners) replaceContext(x *exchange, foreign *ledger.ForeignContext) error {
	sent := x.call.ContextID
	x.call.ContextID = ow.derive(x.principal, x.agent.ID, sent)
	record, err := ow.ledger.CheckMade(x.ctx, x.principal, x.agent.ID, &x.call)
	if err == nil && record.ID != "" && record.Context != "" && record.Context != x.call.ContextID {
		// A task of the caller's that is not in the replacement was never in a
		// context of this name: the two disagree.
		err = ledger.ErrAbsent
	}
	if errors.Is(err, ledger.ErrAbsent) && x.inOtherContext() {
		record, err = ow.lentContext(x, sent)
	}
	if err != nil {
		x.call.ContextID = sent
		return err
	}
	x.record = record
	if foreign != nil && !foreign.Unknown {
		x.rec.Denied = "context"
	}
	other := newForeign(x.call.ContextID, sent)
	x.foreign = &other
	if query := x.r.URL.RawQuery; query != "" {
		x.query = replaceQuery(query, "contextId", other.agents)
		if x.call.Method.Extension == "" { // where it is what the extension says
			x.query = replaceQuery(x.query, "sessionId", other.agents)
		}
	}
	if span := x.call.ContextSpan; span[0] < span[1] {
		other.sent = bytes.Clone(x.call.Body[span[0]:span[1]])
		err = ow.rebody(x, withContext(&x.call, other.alias))
	}
	x.contexts = append(x.contexts, other)
	return err
}

// withContext is the body with another context, wherever one stands.
func withContext(c *wire.Call, alias []byte) []byte {
	spans := append([][2]int{c.ContextSpan}, c.ContextCopies...)
	slices.SortFunc(spans, func(a, b [2]int) int { return b[0] - a[0] }) // from the end, so that the others stay where they are
	body := c.Body
	for _, span := range spans {
		body = splice(body, span[0], span[1], alias)
	}
	return body
}

// lentContext finds the context of a task that is lent to the caller, who has been shown
// it by the name that its owner has for it: sent.
func (ow *owners) lentContext(x *exchange, sent string) (state.Record, error) {
	x.call.ContextID = ""
	record, err := ow.ledger.Check(x.ctx, x.principal, x.agent.ID, &x.call)
	if err == nil && !derived(record.Context) {
		err = ledger.ErrAbsent
	}
	if err != nil {
		return state.Record{}, err
	}
	task := []wire.TaskRef{{ID: record.ID, ContextID: record.Context}}
	names, err := ow.ledger.Names(x.ctx, x.principal, x.agent.ID, x.call.Method, task)
	if err == nil && names[0] != sent {
		err = ledger.ErrAbsent
	}
	if err != nil {
		return state.Record{}, err
	}
	x.call.ContextID = record.Context
	return record, nil
}

// inOtherContext reports whether a call names both a task and a context, so that
// a task that seems absent may be one of the caller's in a context that was
// replaced: the caller knows that context by the name it had before.
func (x *parsedCall) inOtherContext() bool {
	return x.call.TaskID != "" && x.call.ContextID != ""
}

// derive makes a context id of who uses which id where. It is keyed, so that
// nobody can compute another caller's. Those who share contexts have it in common.
func (ow *owners) derive(who *authn.Principal, agent, id string) string {
	mac := hmac.New(sha256.New, ow.salt)
	for _, part := range []string{ow.ledger.Circle(who), agent, id} {
		mac.Write([]byte{byte(len(part) >> 8), byte(len(part))}) //nolint:gosec // both bytes of a length below 64 KiB
		mac.Write([]byte(part))
	}
	var u uuid.UUID
	copy(u[:], mac.Sum(nil))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 version 8: vendor-defined
	return u.String()
}

// derived reports whether an id has the form of those that derive makes. Others choose
// UUIDs of version 8 seldom, so that a look at the state is not for every call.
func derived(id string) bool {
	const digits = 36
	return len(id) == digits && id[14] == '8' && strings.IndexByte("89ab", id[19]) >= 0
}

// nameContexts finds what the caller calls the contexts that an answer shows, where those
// are replacements. One that the call names like the agent goes by that name.
func (ow *owners) nameContexts(x *exchange, seen *wire.Answer) error {
	var unknown []wire.TaskRef
	for _, t := range seen.Tasks {
		if derived(t.ContextID) && nameless(x, t.ContextID) {
			unknown = append(unknown, t)
		}
	}
	if derived(seen.ContextID) && nameless(x, seen.ContextID) && len(unknown) == 0 {
		unknown = append(unknown, wire.TaskRef{ID: x.record.ID, ContextID: seen.ContextID})
	}
	if len(unknown) == 0 {
		return nil
	}
	method := cmp.Or(x.call.Method, createConfig) // notifications have none
	names, err := ow.ledger.Names(x.ctx, x.principal, x.agent.ID, method, unknown)
	for i, name := range names {
		if nameless(x, unknown[i].ContextID) { // tasks of a list can have one in common
			x.learnName(newForeign(unknown[i].ContextID, name))
		}
	}
	return err
}

// mostContexts are remembered of a call, but for those that go by another name: an agent
// may show others without end on a stream.
const mostContexts = 256

// learnName remembers what the caller calls a context.
func (x *ownership) learnName(n foreign) {
	if len(x.contexts) >= mostContexts {
		x.contexts = slices.DeleteFunc(x.contexts, func(n foreign) bool { return n.id == "" })
	}
	x.contexts = append(x.contexts, n)
}

// nameTask is nameContexts for the task that the call names.
func (ow *owners) nameTask(x *exchange) error {
	if x.record.Kind != state.Task || !derived(x.record.Context) {
		return nil
	}
	return ow.nameContexts(x, &wire.Answer{Tasks: []wire.TaskRef{{ID: x.record.ID, ContextID: x.record.Context}}})
}

// nameless reports whether nobody has looked yet what the caller calls a context.
func nameless(x *exchange, context string) bool {
	return context != x.call.ContextID && x.otherwise(context) == nil
}

// otherwise finds a context among those that have been looked at; nil for none.
func (x *ownership) otherwise(context string) *foreign {
	for i := range x.contexts {
		if x.contexts[i].agents == context {
			return &x.contexts[i]
		}
	}
	return nil
}

// restore puts the caller's own ids back into what the agent answers.
func (ow *owners) restore(x *exchange, seen *wire.Answer, body []byte) ([]byte, error) {
	if err := ow.nameContexts(x, seen); err != nil {
		return nil, err
	}
	return x.restoreContext(body), nil
}

// restoreContext is restore where the contexts are known. A replacement is 122
// random-looking bits, so a JSON string equal to it is it.
func (x *ownership) restoreContext(body []byte) []byte {
	for i := range x.contexts {
		if n := &x.contexts[i]; n.id != "" && bytes.Contains(body, n.alias) {
			body = bytes.ReplaceAll(body, n.alias, n.sent)
		}
	}
	return body
}

// nameFor is what the caller calls a context.
func (x *ownership) nameFor(context string) string {
	if n := x.otherwise(context); n != nil && n.id != "" {
		return n.id
	}
	return context
}

// replaceQuery changes one parameter, by whichever of its spellings it goes, and
// leaves the rest as written.
func replaceQuery(raw, name, value string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		key, _, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err == nil && (key == name || key == snake(name)) {
			pairs[i] = name + "=" + url.QueryEscape(value)
		}
	}
	return strings.Join(pairs, "&")
}

// quoted is an id as a JSON string.
func quoted(id string) []byte {
	b, _ := jsontext.AppendQuote(nil, id) // ids are valid UTF-8: decoding has seen to it
	return b
}
