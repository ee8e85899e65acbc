package ownership

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// NewForeign is a context that the agent and the caller know by two names.
func NewForeign(agents, callers string) exchange.Foreign {
	return exchange.Foreign{Agents: agents, ID: callers, Sent: intake.Quoted(callers), Alias: intake.Quoted(agents)}
}

// replaceContext gives a caller who used a context id that is not known as theirs a context
// of their own under that id. Refusing would tell them that the id is taken; passing
// it on would let them write into another caller's conversation. The replacement
// is the same every time, so that the conversation goes on. foreign is what the ledger says
// of the id; nil where it says that of a task.
//
// The body's bytes are changed in place of each of the ids, and decoded again; x.Foreign is what
// puts the caller's id back later. Its error is ledger.ErrAbsent where the task that the call
// names is in another context than the replacement.
func (ow *Owners) replaceContext(x *exchange.Exchange, foreign *ledger.ForeignContext) error {
	sent := x.Call.ContextID
	x.Call.ContextID = ow.deriveContext(x.Principal, x.Agent.ID, sent)
	record, err := ow.Ledger.CheckMade(x.Ctx, x.Principal, x.Agent.ID, &x.Call)
	if err == nil && record.ID != "" && record.Context != "" && record.Context != x.Call.ContextID {
		// A task of the caller's that is not in the replacement was never in a
		// context of this name: the two disagree.
		err = ledger.ErrAbsent
	}
	if errors.Is(err, ledger.ErrAbsent) && x.InOtherContext() {
		record, err = ow.lentContext(x, sent)
	}
	if err != nil {
		x.Call.ContextID = sent
		return err
	}
	x.Record = record
	if foreign != nil && !foreign.Unknown {
		x.Rec.Denied = "context"
	}
	other := NewForeign(x.Call.ContextID, sent)
	x.Foreign = &other
	if query := x.Request.URL.RawQuery; query != "" {
		x.Query = ReplaceQuery(query, "contextId", other.Agents)
		if x.Call.Method.Extension == "" { // where it is what the extension says
			x.Query = ReplaceQuery(x.Query, "sessionId", other.Agents)
		}
	}
	if span := x.Call.ContextSpan; span[0] < span[1] {
		other.Sent = bytes.Clone(x.Call.Body[span[0]:span[1]])
		err = ow.ReplaceBody(x, withContext(&x.Call, other.Alias))
	}
	x.Contexts = append(x.Contexts, other)
	return err
}

// withContext is the body with another context, wherever one stands.
func withContext(c *wire.Call, alias []byte) []byte {
	spans := append([][2]int{c.ContextSpan}, c.ContextCopies...)
	slices.SortFunc(spans, func(a, b [2]int) int { return b[0] - a[0] }) // from the end, so that the others stay where they are
	body := c.Body
	for _, span := range spans {
		body = jsonscan.Replaced(body, span[0], span[1], alias)
	}
	return body
}

// lentContext finds the context of a task that is lent to the caller, who has been shown
// it by the name that its owner has for it: sent.
//
// Tasks that rules share are shown with their owner's names, so that a borrower may send such a
// name back.
func (ow *Owners) lentContext(x *exchange.Exchange, sent string) (state.Record, error) {
	x.Call.ContextID = ""
	record, err := ow.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &x.Call)
	if err == nil && !derived(record.Context) {
		err = ledger.ErrAbsent
	}
	if err != nil {
		return state.Record{}, err
	}
	task := []wire.TaskRef{{ID: record.ID, ContextID: record.Context}}
	names, err := ow.Ledger.Names(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, task)
	if err == nil && names[0] != sent {
		err = ledger.ErrAbsent
	}
	if err != nil {
		return state.Record{}, err
	}
	x.Call.ContextID = record.Context
	return record, nil
}

// deriveContext makes a context id of who uses which id where. It is keyed, so that
// nobody can compute another caller's. Those who share contexts have it in common.
//
// Parts are length-prefixed: no choice of caller, agent and id gives the derived id of another
// choice.
func (ow *Owners) deriveContext(who *authn.Principal, agent, id string) string {
	mac := hmac.New(sha256.New, ow.Salt)
	for _, part := range []string{ow.Ledger.Circle(who), agent, id} {
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

// NameContexts finds what the caller calls the contexts that an answer shows, where those
// are replacements. One that the call names like the agent goes by that name.
//
// What it learns is kept in the exchange, so that each context of a long list is looked up once.
func (ow *Owners) NameContexts(x *exchange.Exchange, seen *wire.Answer) error {
	var unknown []wire.TaskRef
	for _, t := range seen.Tasks {
		if derived(t.ContextID) && nameless(x, t.ContextID) {
			unknown = append(unknown, t)
		}
	}
	if derived(seen.ContextID) && nameless(x, seen.ContextID) && len(unknown) == 0 {
		unknown = append(unknown, wire.TaskRef{ID: x.Record.ID, ContextID: seen.ContextID})
	}
	if len(unknown) == 0 {
		return nil
	}
	method := cmp.Or(x.Call.Method, CreateConfig) // notifications have none
	names, err := ow.Ledger.Names(x.Ctx, x.Principal, x.Agent.ID, method, unknown)
	for i, name := range names {
		if nameless(x, unknown[i].ContextID) { // tasks of a list can have one in common
			x.LearnName(NewForeign(unknown[i].ContextID, name))
		}
	}
	return err
}

// NameTask finds what the caller calls the context of the task that the call names.
func (ow *Owners) NameTask(x *exchange.Exchange) error {
	if x.Record.Kind != state.Task || !derived(x.Record.Context) {
		return nil
	}
	return ow.NameContexts(x, &wire.Answer{Tasks: []wire.TaskRef{{ID: x.Record.ID, ContextID: x.Record.Context}}})
}

// nameless reports whether nobody has looked yet what the caller calls a context.
func nameless(x *exchange.Exchange, context string) bool {
	return context != x.Call.ContextID && x.Otherwise(context) == nil
}

// RestoreIDs puts the caller's own ids back into what the agent answers.
//
// body is in the agent's words, before translation; what is returned is as well.
func (ow *Owners) RestoreIDs(x *exchange.Exchange, seen *wire.Answer, body []byte) ([]byte, error) {
	if err := ow.NameContexts(x, seen); err != nil {
		return nil, err
	}
	return x.RestoreContext(body), nil
}

// ReplaceQuery changes one parameter, by whichever of its spellings it goes, and
// leaves the rest as written.
//
// raw is a query as it stands in a URL. The spelling of the name becomes the first one,
// lowerCamelCase.
func ReplaceQuery(raw, name, value string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		key, _, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err == nil && (key == name || key == cursors.Snake(name)) {
			pairs[i] = name + "=" + url.QueryEscape(value)
		}
	}
	return strings.Join(pairs, "&")
}
