package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	ownership "github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
)

// inquiry is one call that is asked about.
type inquiry struct {
	agent   *fleetAgent
	method  *wire.Method
	caller  *authn.Principal
	skill   string // that the path names
	binding wire.Binding
	version wire.Version
	source  netip.Addr // zero where it is not known
	now     time.Time
	dated   bool // now is another moment than this one
	asked   ext.Set
	message []byte            // JSON of a message, or of the params around it, as 1.0 has them; nil where it is not known
	task    *ownership.Record // that the call names; nil for none
	card    *card.Card        // nil where it is not known
	really  bool              // authorizers are asked
	flags   bool              // of explain say all this
}

// manner is how a call comes, as it is written.
type manner struct {
	binding, version, source, at string

	now time.Time // where at is empty
}

// settle reads what is written. With an error it returns the name of what is wrong.
func (w *manner) settle(q *inquiry) (wrong string, err error) {
	q.binding, q.version, q.now = wire.JSONRPC, wire.V10, w.now
	var ok bool
	if w.binding != "" {
		if q.binding, ok = wire.ParseBinding(w.binding); !ok {
			return "binding", fmt.Errorf("%q is none of JSONRPC, HTTP+JSON and GRPC", w.binding)
		}
	}
	if w.version != "" {
		if q.version, ok = wire.ParseVersion(w.version); !ok {
			return "version", fmt.Errorf("%q is none of 0.1, 0.2, 0.3 and 1.0", w.version)
		}
	}
	if w.source != "" {
		if q.source, err = netip.ParseAddr(w.source); err != nil {
			return "source", fmt.Errorf("%q is no IP address", w.source)
		}
		q.source = q.source.Unmap()
	}
	if w.at != "" {
		if q.now, err = time.Parse(time.RFC3339, w.at); err != nil {
			return "at", fmt.Errorf("%q is no time; want 2006-01-02T15:04:05Z", w.at)
		}
		q.dated = true
	}
	return "", nil
}

// request adds the extensions that a call asks for.
func (q *inquiry) request(uris []string) error {
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

// described is a task, as it is written. What is not said of its owner is the caller's.
type described struct {
	id, context, skill    string
	owner, issuer, tenant string
}

// recall makes the record that the gateway would have of the task.
func (q *inquiry) recall(d *described) {
	p := q.caller
	owner := authn.Principal{Subject: d.owner, Issuer: d.issuer, Tenant: d.tenant}
	if owner.Issuer == "" {
		owner.Issuer = p.Issuer
	}
	if owner.Subject == "" {
		owner.Subject = p.Subject
	}
	if d.tenant == "" && owner.Key() == p.Key() {
		owner.Tenant = p.Tenant
	}
	q.task = &ownership.Record{
		Agent: q.agent.ID, Kind: ownership.Task, ID: d.id, Owner: owner.Key(), Tenant: owner.Tenant,
		Skill: d.skill, Context: d.context, Created: q.now,
	}
	if d.id == "" {
		q.task.ID = "task-1"
	}
}

// bring checks that a message can be part of such a call. What the parser of calls thinks
// of it is for the judgement.
func (q *inquiry) bring(message []byte) error {
	switch {
	case message == nil:
	case q.method.Subject != wire.OfMessage:
		return fmt.Errorf("%s brings no message", q.method.Name)
	case jsontext.Value(message).Kind() != '{' || !jsontext.Value(message).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return errors.New("want a JSON object: a message, or the params around one")
	}
	q.message = message
	return nil
}

// decode reads the call as the gateway would: in JSON-RPC of 1.0, whatever it came in.
// What a message needs and has no meaning for rules, an id and a role, is added where it
// is left out.
func (q *inquiry) decode(c *compiled) (*wire.Call, *wire.Error) {
	call := &wire.Call{Binding: q.binding, Version: q.version, Method: q.method, Extra: c.book.Extra()}
	if q.task != nil {
		call.TaskID, call.ContextID = q.task.ID, q.task.Context
	}
	if q.message == nil {
		return call, nil
	}
	params := q.message
	if !has(params, "message") && q.method.Extension == "" {
		params = fmt.Appendf(nil, `{"message":%s}`, whole(params, q.task))
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, q.method.Name, params)
	e := call.DecodeJSONRPC(body, wire.V10, c.wireLimits())
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
