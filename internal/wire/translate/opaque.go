package translate

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// What the params and results of an extension's method mean is the extension's
// business: between versions, and between JSON-RPC and HTTP+JSON, only what is around
// them changes, and of what is in them the few members that package wire reads. On gRPC
// they are protobuf that nobody here has the types of.

// ofExtension reports whether a call is of an extension's method.
func ofExtension(c *wire.Call) bool { return c.Method != nil && c.Method.Extension != "" }

// requestOpaque is Request for such a call. c.Params are not looked at: what of the body
// has been replaced since it was read, stands in the body only.
//
// A query becomes params, and params a query, as far as package wire reads them: nobody
// here knows the types of others.
//
//	JSON-RPC    {"method":"acme/notes","params":{"taskId":"T","limit":5}}
//	HTTP+JSON   GET /tasks/T/notes     refused: limit has a type that nobody here knows
//	HTTP+JSON   POST /tasks/T/notes    {"taskId":"T","limit":5}
func requestOpaque(c *wire.Call, query url.Values, to To) (Outbound, *wire.Error) {
	m := c.Method
	if c.Binding == wire.GRPC || to.Binding == wire.GRPC || to.Version == wire.V01 ||
		to.Binding == wire.HTTPJSON && m.Path == "" {
		return Outbound{}, unsupported("This method cannot be retold in the agent's version or binding")
	}
	o := Outbound{Call: wire.Call{
		Binding: to.Binding, Version: to.Version, Method: m, Streaming: m.Streams, ID: to.ID,
		Accept: c.Accept, Extra: c.Extra, Tenant: to.Tenant, MessageID: c.MessageID,
		TaskID: c.TaskID, ContextID: c.ContextID, Skill: c.Skill, PageToken: c.PageToken,
		ReferenceTaskIDs: c.ReferenceTaskIDs, MessageExtensions: c.MessageExtensions, HasPushConfig: c.HasPushConfig,
	}}
	p := opaque{call: c, to: to, rest: url.Values{}}
	p.readQuery(query)
	p.readParams()
	e := o.dressOpaque(&p)
	return o, e
}

// unsupported refuses what the target's version has no way to say (-32004).
func unsupported(text string) *wire.Error { return wire.Errorf(wire.Unsupported, "%s", text) }

// opaque is what the params and the query of a call say.
type opaque struct {
	call *wire.Call
	to   To

	params [][2][]byte // the members of the params: names and values, as they are written
	none   bool        // there were no params
	given  []fact      // what params or query say that package wire reads
	rest   url.Values  // what else stands in the query
}

// fact is a member or parameter that package wire reads, and what it says.
type fact struct {
	name, value string
	inParams    bool
}

// fact tells what a name means. A tenant means nothing: it is what the interface's card
// says.
func (p *opaque) fact(name string) (fact, bool) {
	c, m := p.call, p.call.Method
	is := func(known string) bool { return name == known || name == snakeCase(known) }
	switch {
	case m.TaskField != "" && is(m.TaskField), is("taskId"), m.Subject == wire.OfTask && is("id"):
		return fact{name: name, value: c.TaskID}, true
	case m.Subject != wire.OfMessage && is("contextId"):
		return fact{name: name, value: c.ContextID}, true
	case m.Subject == wire.OfCaller && is("pageToken"):
		return fact{name: name, value: c.PageToken}, true
	}
	return fact{name: name}, name == "tenant"
}

// readQuery sorts the parameters, by name too, so that one call is always retold in the
// same words.
func (p *opaque) readQuery(query url.Values) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		f, known := p.fact(name)
		switch {
		case known:
			p.give(f)
		case !isService(name):
			p.rest[name] = values
		}
	}
}

// services are the parameters that stand for headers, which the gateway says itself.
var services = []string{"A2A-Version", "A2A-Extensions", "X-A2A-Extensions"}

// isService knows them in any case: header names have none, so some servers may think
// that of parameters.
func isService(name string) bool {
	name = strings.ReplaceAll(name, "_", "-")
	return slices.ContainsFunc(services, func(s string) bool { return strings.EqualFold(name, s) })
}

// readParams takes the params apart.
func (p *opaque) readParams() {
	doc := p.withTenant()
	if p.call.Binding == wire.JSONRPC {
		doc = lookup(doc, "params")
	}
	if doc = bytes.TrimSpace(doc); !isObject(doc) {
		p.none = true
		return
	}
	for name, value := range members(doc) {
		f, known := p.fact(string(unescaped(name)))
		switch {
		case known && (isNull(value) || len(inside(value)) == 0 || f.name == "tenant"): // says nothing
		case known:
			f.inParams = true
			p.give(f)
			fallthrough
		default:
			p.params = append(p.params, [2][]byte{name, value})
		}
	}
}

// withTenant is the call's body with the tenant of the interface wherever one stands: a
// push config may repeat it.
func (p *opaque) withTenant() []byte {
	body := jsonscan.Mend(p.call.Body)
	for _, span := range slices.Backward(p.call.TenantSpans) { // from the end, so that the others stay where they are
		w := buffer{out: slices.Clone(body[:span[0]])}
		w.text(p.to.Tenant)
		w.raw(body[span[1]:])
		body = w.out
	}
	return body
}

// give notes a fact, once.
func (p *opaque) give(f fact) {
	if f.value == "" || f.name == "tenant" {
		return
	}
	at := slices.IndexFunc(p.given, func(g fact) bool { return g.name == f.name })
	if at < 0 {
		p.given = append(p.given, f)
	} else if f.inParams {
		p.given[at] = f
	}
}

// inPath reports whether the target has the task in its path.
func (p *opaque) inPath() bool {
	return p.to.Binding == wire.HTTPJSON && strings.Contains(p.call.Method.Path, "{task}")
}

// dressOpaque makes of what a call says what the target's binding sends.
func (o *Outbound) dressOpaque(p *opaque) *wire.Error {
	rpc := o.Call.Binding == wire.JSONRPC
	p.nameTask()
	if !rpc {
		if e := o.route(p.to.Tenant); e != nil {
			return e
		}
		if inURL(o.Verb) {
			return o.query(p)
		}
		o.Query = p.rest.Encode()
		if p.none && len(p.given) == 0 {
			return nil
		}
	} else if o.Verb = http.MethodPost; len(p.rest) > 0 {
		return unsupported("The query cannot be retold in the agent's binding")
	}
	w := buffer{out: make([]byte, 0, len(p.call.Body)+len(o.Call.ID)+128)}
	if rpc {
		w.literal(`{"jsonrpc":"2.0","id":`)
		w.raw(o.Call.ID)
		w.literal(`,"method":`)
		w.word(o.Call.Method.Name)
		w.literal(`,"params":`)
	}
	start := len(w.out)
	p.write(&w, rpc)
	end := len(w.out)
	if rpc {
		w.literal("}")
	}
	o.Call.Body, o.Call.Params, o.Body = w.out, w.out[start:end:end], w.out
	return nil
}

// nameTask adds the task that only the caller's path names.
func (p *opaque) nameTask() {
	c := p.call
	named := slices.ContainsFunc(p.given, func(f fact) bool { return f.value == c.TaskID })
	if c.TaskID == "" || named || p.inPath() || c.Binding != wire.HTTPJSON || !strings.Contains(c.Method.Path, "{task}") {
		return
	}
	name := first(c.Method.TaskField, "id")
	if c.Method.Subject != wire.OfTask {
		name = first(c.Method.TaskField, "taskId")
	}
	p.give(fact{name: name, value: c.TaskID})
}

// write writes the params.
func (p *opaque) write(w *buffer, rpc bool) {
	w.literal("{")
	if rpc && p.to.Version == wire.V10 && p.to.Tenant != "" {
		w.name("tenant")
		w.text(p.to.Tenant)
	}
	for _, f := range p.given {
		if !f.inParams {
			w.name(f.name)
			w.text(f.value)
		}
	}
	for _, m := range p.params {
		w.name(string(m[0]))
		w.raw(m[1])
	}
	w.literal("}")
}

// writeOpaque writes a result of which nothing is known. None at all, as of a 204, is null.
func writeOpaque(w *writer, result []byte) {
	if result == nil {
		w.literal("null")
	}
	w.raw(result)
}

// query is what a GET says.
func (o *Outbound) query(p *opaque) *wire.Error {
	values := p.rest
	for _, f := range p.given {
		if !p.inPath() || f.value != o.Call.TaskID {
			values.Set(f.name, f.value)
		}
	}
	for _, m := range p.params {
		if _, known := p.fact(string(unescaped(m[0]))); !known && !isNull(m[1]) {
			return unsupported("The params cannot be retold in the query of the agent's binding")
		}
	}
	o.Query = values.Encode()
	return nil
}
