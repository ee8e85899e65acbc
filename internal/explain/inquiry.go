package explain

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	ownership "github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Inquiry is one call that is asked about.
type Inquiry struct {
	// Agent, Method and Caller are set before anything else is read into the inquiry.
	Agent   *Agent
	Method  *wire.Method
	Caller  *authn.Principal
	Skill   string // that the path names
	binding wire.Binding
	version wire.Version
	source  netip.Addr // zero where it is not known
	now     time.Time
	dated   bool // now is another moment than this one
	asked   ext.Set
	Message []byte            // JSON of a message, or of the params around it, as 1.0 has them; nil where it is not known
	task    *ownership.Record // that the call names; nil for none
	Card    *card.Card        // nil where it is not known
	Really  bool              // authorizers are asked
	Flags   bool              // of explain say all this
}

// Manner is how a call comes, as it is written.
// All of its texts may be empty: the binding is then JSON-RPC, the version 1.0, and the source not
// known, which conditions on addresses read as the stricter of two answers.
type Manner struct {
	Binding, Version, Source, At string

	Now time.Time // where At is empty
}

// parseBinding reads a binding that calls come over: MCP too, which no card names.
func parseBinding(s string) (wire.Binding, bool) {
	if strings.EqualFold(s, wire.MCP.String()) {
		return wire.MCP, true
	}
	return wire.ParseBinding(s)
}

// Settle reads what is written. With an error it returns the name of what is wrong.
func (w *Manner) Settle(q *Inquiry) (wrong string, err error) {
	q.binding, q.version, q.now = wire.JSONRPC, wire.V10, w.Now
	// Defaults stand already: only what is written is looked at, in the order of the fields, and
	// the first mistake ends it.
	var ok bool
	if w.Binding != "" {
		if q.binding, ok = parseBinding(w.Binding); !ok {
			return "binding", fmt.Errorf("%q is none of JSONRPC, HTTP+JSON, GRPC and MCP", w.Binding)
		}
	}
	if w.Version != "" {
		if q.version, ok = wire.ParseVersion(w.Version); !ok {
			return "version", fmt.Errorf("%q is none of 0.1, 0.2, 0.3 and 1.0", w.Version)
		}
	}
	if w.Source != "" {
		if q.source, err = netip.ParseAddr(w.Source); err != nil {
			return "source", fmt.Errorf("%q is no IP address", w.Source)
		}
		// Rules compare IPv4 addresses in their short form (::ffff:192.0.2.1 is 192.0.2.1).
		q.source = q.source.Unmap()
	}
	if w.At != "" {
		if q.now, err = time.Parse(time.RFC3339, w.At); err != nil {
			return "at", fmt.Errorf("%q is no time; want 2006-01-02T15:04:05Z", w.At)
		}
		q.dated = true
	}
	return "", nil
}

// Now is when the call is made.
func (q *Inquiry) Now() time.Time { return q.now }

// Request adds the extensions that a call asks for.
// The same URI twice counts once, as in the A2A-Extensions header. The error is of the first URI
// that is none.
func (q *Inquiry) Request(uris []string) error {
	q.asked = ext.Set{}
	for _, uri := range uris {
		if err := ext.CheckURI(uri); err != nil {
			return err
		}
		if !q.asked.Has(uri) {
			q.asked = append(q.asked, uri)
		}
	}
	return nil
}

// Recall makes the record that the gateway would have of the task.
//
// Owner, issuer and tenant default to those of the caller: who describes a task without them means
// one of the caller's own. The tenant is taken over only where the owner is the caller, as
// somebody else's tenant is not known. The id does not matter to rules and may be missing.
func (q *Inquiry) Recall(d *verdict.Task) {
	p := q.Caller
	owner := authn.Principal{Subject: d.Owner, Issuer: d.Issuer, Tenant: d.Tenant}
	if owner.Issuer == "" {
		owner.Issuer = p.Issuer
	}
	if owner.Subject == "" {
		owner.Subject = p.Subject
	}
	if d.Tenant == "" && owner.Key() == p.Key() {
		owner.Tenant = p.Tenant
	}
	q.task = &ownership.Record{
		Agent: q.Agent.ID, Kind: ownership.Task, ID: d.ID, Owner: owner.Key(), Tenant: owner.Tenant,
		Skill: d.Skill, Context: d.Context, Created: q.now,
	}
	if d.ID == "" {
		q.task.ID = "task-1"
	}
}

// Bring checks that a message can be part of such a call. What the parser of calls thinks
// of it is for the judgement.
// Duplicate member names and invalid UTF-8 pass here: the gateway has rules of its own for them,
// and its answer is what is asked for.
func (q *Inquiry) Bring(message []byte) error {
	switch {
	case message == nil:
	case q.Method.Subject != wire.OfMessage:
		return fmt.Errorf("%s brings no message", q.Method.Name)
	case jsontext.Value(message).Kind() != '{' || !jsontext.Value(message).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return errors.New("want a JSON object: a message, or the params around one")
	}
	q.Message = message
	return nil
}

// decode reads the call as the gateway would: in JSON-RPC of 1.0, whatever it came in.
// What a message needs and has no meaning for rules, an id and a role, is added where it
// is left out.
// The error is what the gateway would answer to a message that it cannot read.
func (q *Inquiry) decode(jd *Judge) (*wire.Call, *wire.Error) {
	call := &wire.Call{Binding: q.binding.Document(), Version: q.version, Method: q.Method, Extra: jd.Book.Extra()}
	if q.task != nil {
		call.TaskID, call.ContextID = q.task.ID, q.task.Context
	}
	if q.Message == nil {
		return call, nil
	}
	// Methods of extensions have params of their own shape, so that nothing is put around them.
	params := q.Message
	if !has(params, "message") && q.Method.Extension == "" {
		params = fmt.Appendf(nil, `{"message":%s}`, whole(params, q.task))
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, q.Method.Name, params)
	e := call.DecodeJSONRPC(body, wire.V10, jd.Wire)
	return call, e
}

// whole adds members that are missing to a message.
// Members are put in front, so that a message with a syntax that only the gateway's parser rejects
// stays as it was written.
func whole(message []byte, task *ownership.Record) []byte {
	var add []string
	if !has(message, "messageId") {
		add = append(add, `"messageId":"message-1"`)
	}
	if !has(message, "role") {
		add = append(add, `"role":"ROLE_USER"`)
	}
	if task != nil && !has(message, "taskId") {
		id, _ := jsontext.AppendQuote(nil, task.ID)
		add = append(add, `"taskId":`+string(id))
	}
	if len(add) == 0 {
		return message
	}
	rest := strings.TrimSpace(string(message))[1:]
	// The empty last element makes Join write the comma in front of the members that are there.
	if strings.TrimSpace(rest) != "}" {
		add = append(add, "")
	}
	return []byte("{" + strings.Join(add, ",") + rest)
}

// has reports whether an object, which is valid JSON, has a member.
// A member within a member does not count; a name that is spelled with escapes does.
func has(object []byte, name string) bool {
	found := false
	d := jsontext.NewDecoder(strings.NewReader(string(object)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		found = found || token.String() == name
		if err := d.SkipValue(); err != nil {
			return false
		}
	}
	return found
}

// newExplanation begins the answer to an inquiry: allowed, as long as no step refuses. Visible is
// asked at once, since a caller who may not see the agent is told of no other reason.
func newExplanation(jd *Judge, q *Inquiry) *verdict.Explanation {
	e := &verdict.Explanation{
		Verdict: verdict.Allowed, Agent: q.Agent.ID, Method: q.Method.Name, Visible: jd.Rules.Sees(q.Caller, q.Agent.ID),
		Call:   verdict.Circumstances{Binding: q.binding.String(), Version: string(q.version)},
		Caller: newCaller(q.Caller),
	}
	if q.source.IsValid() {
		e.Call.Source = q.source.String()
	}
	if q.dated {
		e.Call.At = q.now.Format(time.RFC3339)
	}
	if q.task != nil {
		e.Call.Task = q.task.ID
	}
	return e
}
