package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// DecodeHTTP reads an HTTP+JSON request (A2A 1.0 §11, A2A 0.3 §3.5): the route
// that ByRoute found for it, its query, its body and what RequestVersion found.
// What the path says stands; query and body may repeat it and must not contradict.
//
// Bodies are ProtoJSON in both versions, so both spellings of a name are read.
// On an error the Call holds whatever could be read.
//
//	GET /tasks/T?historyLength=1     Call{Method: GetTask, TaskID: "T"}
//	POST /acme/message:send          Call{Method: SendMessage, Tenant: "acme"}, ids from the body
func (c *Call) DecodeHTTP(route Route, query url.Values, body []byte, header Version, lim Limits) *Error {
	*c = Call{
		Binding: HTTPJSON, Version: route.Version, Method: route.Method,
		Body: body, Accept: c.Accept, Spelled: c.Spelled, Extra: c.Extra,
	}
	lim = lim.withDefaults()
	c.Streaming = route.Method != nil && route.Method.Streams
	switch {
	case route.Method == nil && len(route.Allow) > 0:
		e := Errorf(VerbNotAllowed, "")
		e.Header = http.Header{"Allow": {strings.Join(route.Allow, ", ")}}
		return e
	case route.Method == nil, !c.Extra.knows(route.Method):
		return Errorf(MethodNotFound, "")
	case int64(len(body)) > lim.Body:
		return Errorf(TooLarge, "the request body is larger than %d bytes", lim.Body)
	}
	d := decoder{Reader: Reader{Scanner: NewScanner(body, lim)}, call: c, lim: lim, header: header}
	defer d.Release()
	d.route(route)
	d.query(query)
	d.NoteLong()
	d.httpBody()
	c.Hints, c.Long = hintsOf(d.Scanner), d.Long()
	if !d.Failed() {
		d.required()
	}
	return d.End()
}

// route takes over what the path says, and refuses an operation or a header
// that does not go with the path's version.
func (d *decoder) route(r Route) {
	c := d.call
	switch {
	case d.header != "" && d.header != r.Version:
		d.Refuse(Errorf(VersionUnsupported,
			"the path belongs to A2A %s, but A2A-Version says %s", r.Version, c.spelled(d.header)))
	case r.Version == V03 && r.Method.V03 == "":
		// The 0.3 text has the path, and no implementation answers it.
		d.Refuse(Errorf(Unsupported, "A2A 0.3 has no %s", r.Method.Name))
	}
	d.agree(&c.Tenant, r.Tenant, "tenant", d.lim.IDLength)
	d.agree(&c.TaskID, r.TaskID, "the task id", d.lim.IDLength)
	d.agree(&c.ConfigID, r.ConfigID, "the push notification config id", d.lim.IDLength)
}

// query reads the parameters that decide something. Others, like historyLength,
// are the agent's business. A deciding one must be there once and under an
// exact name, for frameworks differ in which of two they take.
//
//	GET /tasks/T?historyLength=2            nothing here decides
//	GET /tasks?contextId=C&pageToken=p      both do
//	GET /tasks?contextId=C&context_id=D     refused: two spellings of one parameter
func (d *decoder) query(q url.Values) {
	if len(q) == 0 {
		return
	}
	n := d.table()
	var seen uint32
	for name, values := range q {
		sp, f := n.Find([]byte(name))
		switch {
		case sp == nil:
			continue
		case f == fieldNone:
			d.Invalid("a query parameter's name is not quite " + sp.Camel)
			continue
		case len(values) != 1 || seen&sp.Bit != 0:
			d.Invalid(sp.Camel + " is given twice in the query")
			continue
		}
		seen |= sp.Bit
		d.at = sp
		d.parameter(f, values[0])
	}
}

// parameter takes over one query parameter. Those that can only be in a body
// are none of ours.
func (d *decoder) parameter(f jsonscan.Field, value string) {
	c := d.call
	switch f {
	case fieldTenant:
		d.agree(&c.Tenant, value, "tenant", d.lim.IDLength)
	case fieldTask:
		d.agree(&c.TaskID, value, "the task id", d.lim.IDLength)
	case fieldConfig:
		d.agree(&c.ConfigID, value, "the push notification config id", d.lim.IDLength)
	case fieldContext:
		d.agree(&c.ContextID, value, "the context id", d.lim.IDLength)
	case fieldName:
		d.named(value)
	case fieldStrayTask, fieldStrayContext, fieldStrayObject, fieldReferences:
		d.strayParameter(f, value)
	case fieldPageToken:
		d.agree(&c.PageToken, value, "pageToken", longestToken)
	}
}

// httpBody reads the body. Cancel, subscribe and extensions' methods are posted with
// nothing, null or {} as well; what has no POST has no body.
func (d *decoder) httpBody() {
	c := d.call
	m := c.Method
	needed := m.Subject == OfMessage || m.Push && m.Does == Creates
	switch {
	case len(c.Body) == 0:
		if needed {
			d.Refuse(Errorf(parseError, "Invalid JSON payload: the request has no body"))
		}
		return
	case !slices.Contains(m.Verbs, http.MethodPost):
		d.Skip()
		d.Refuse(Errorf(InvalidRequest, "%s takes no request body", m.Name))
		return
	}
	switch kind := d.Kind(); {
	case kind == '{':
		d.object(d.table())
	case kind == 'n' && !needed:
		d.Skip()
	default:
		d.Skip()
		d.Refuse(Errorf(InvalidRequest, "the request body is not an object"))
	}
	if !d.Failed() {
		c.Params = c.Body
	}
}
