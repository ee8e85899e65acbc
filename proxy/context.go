package proxy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// foreign is a context id that belongs to somebody else and what the agent sees
// in its place for this caller.
type foreign struct {
	id    string // the caller's
	sent  []byte // the caller's id as a JSON string, verbatim
	alias []byte // the replacement as a JSON string
}

// replaceContext gives a caller who used somebody else's context id a context of
// their own under that id. Refusing would tell them that the id is taken; passing
// it on would let them write into another caller's conversation. The replacement
// is the same every time, so that the conversation goes on.
func (p *Proxy) replaceContext(x *exchange) error {
	sent := x.call.ContextID
	alias := p.derive(x.principal, x.agent.ID, sent)
	x.call.ContextID = alias
	record, err := p.Ledger.Check(x.ctx, x.principal, x.agent.ID, &x.call)
	if err == nil && record.ID != "" && record.Context != alias {
		// A task of the caller's that is not in the replacement was never in a
		// context of this name: the two disagree.
		err = ledger.ErrAbsent
	}
	if err != nil {
		x.call.ContextID = sent
		return err
	}
	x.record = record
	x.rec.Denied = "context"
	x.foreign = &foreign{id: sent, sent: quoted(sent), alias: quoted(alias)}
	span := x.call.ContextSpan
	if span[0] == span[1] {
		x.query = replaceQuery(x.r.URL.RawQuery, "contextId", alias)
		return nil
	}
	x.foreign.sent = bytes.Clone(x.call.Body[span[0]:span[1]])
	return p.rebody(x, splice(x.call.Body, span[0], span[1], x.foreign.alias))
}

// inOtherContext reports whether a call names both a task and a context, so that
// a task that seems absent may be one of the caller's in a context that was
// replaced: the caller knows that context by the name it had before.
func (x *exchange) inOtherContext() bool {
	m := x.call.Method
	return (m.Subject == wire.OfMessage || m.Extension != "") && x.call.TaskID != "" && x.call.ContextID != ""
}

// derive makes a context id of who uses which id where. It is keyed, so that
// nobody can compute another caller's.
func (p *Proxy) derive(who *authn.Principal, agent, id string) string {
	mac := hmac.New(sha256.New, p.Salt)
	for _, part := range []string{who.Key(), agent, id} {
		mac.Write([]byte{byte(len(part) >> 8), byte(len(part))}) //nolint:gosec // both bytes of a length below 64 KiB
		mac.Write([]byte(part))
	}
	var u uuid.UUID
	copy(u[:], mac.Sum(nil))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 version 8: vendor-defined
	return u.String()
}

// restoreContext puts the caller's own id back into what the agent answers. The
// replacement is 122 random-looking bits, so a JSON string equal to it is it.
func (x *exchange) restoreContext(body []byte) []byte {
	if x.foreign == nil || !bytes.Contains(body, x.foreign.alias) {
		return body
	}
	return bytes.ReplaceAll(body, x.foreign.alias, x.foreign.sent)
}

// nameFor is what the caller calls the context that the call is in.
func (x *exchange) nameFor(context string) string {
	if x.foreign != nil {
		return x.foreign.id
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
