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
type Manner struct {
	Binding, Version, Source, At string

	Now time.Time // where At is empty
}

// Settle reads what is written. With an error it returns the name of what is wrong.
func (w *Manner) Settle(q *Inquiry) (wrong string, err error) {
	q.binding, q.version, q.now = wire.JSONRPC, wire.V10, w.Now
	var ok bool
	if w.Binding != "" {
		if q.binding, ok = wire.ParseBinding(w.Binding); !ok {
			return "binding", fmt.Errorf("%q is none of JSONRPC, HTTP+JSON and GRPC", w.Binding)
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
func (q *Inquiry) decode(jd *Judge) (*wire.Call, *wire.Error) {
	call := &wire.Call{Binding: q.binding, Version: q.version, Method: q.Method, Extra: jd.Book.Extra()}
	if q.task != nil {
		call.TaskID, call.ContextID = q.task.ID, q.task.Context
	}
	if q.Message == nil {
		return call, nil
	}
	params := q.Message
	if !has(params, "message") && q.Method.Extension == "" {
		params = fmt.Appendf(nil, `{"message":%s}`, whole(params, q.task))
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, q.Method.Name, params)
	e := call.DecodeJSONRPC(body, wire.V10, jd.Wire)
	return call, e
}

// whole adds members that are missing to a message.
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
	if strings.TrimSpace(rest) != "}" {
		add = append(add, "")
	}
	return []byte("{" + strings.Join(add, ",") + rest)
}

// has reports whether an object, which is valid JSON, has a member.
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
