package console

import (
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/openapi"
)

// document describes the API as it is served. It is OpenAPI 3.1 in JSON. The types of
// answers are read by reflection, with the texts of their doc tags, so that what is served
// is what is described.
func document(version string, operations []api.Operation) (jsontext.Value, error) {
	doc := openapi.API{
		Title: "a2a-gateway admin API", Version: version,
		Text: "The API by which operators inspect and change a gateway. An error is a problem document of RFC 9457 " +
			"with a code. Answers to GET have an ETag. Lists have pages: next of one page is the cursor of the following page.",
		Security: map[string]openapi.Schema{
			"session": {"type": "apiKey", "in": "cookie", "name": "__Host-" + sessionCookie,
				"description": "cookie from GET /api/v1/login; without TLS, its name lacks __Host-. Changes must send X-CSRF-Token with the value from GET /api/v1/session"},
			"token": {"type": "http", "scheme": "bearer", "description": "the admin token, one of admin.tokens, or an access token of admin.oidc"},
		},
		Problem: reflect.TypeFor[Problem](),
		Values:  values(),
	}
	for _, code := range []api.Code{unknownHost, api.Malformed, internal, noState} {
		doc.Common = append(doc.Common, problem(code))
	}
	for i := range operations {
		doc.Operations = append(doc.Operations, describe(&operations[i]))
	}
	return doc.Document()
}

// values are the texts that types have. OpenAPI shows them as enum; Go has no way to list
// the constants of a type.
func values() map[reflect.Type][]string {
	all := map[reflect.Type][]string{}
	for _, r := range api.Roles() {
		all[reflect.TypeFor[api.Role]()] = append(all[reflect.TypeFor[api.Role]()], string(r))
	}
	for _, st := range trust.States() {
		all[reflect.TypeFor[trust.State]()] = append(all[reflect.TypeFor[trust.State]()], string(st))
	}
	for _, sev := range []trust.Severity{trust.Info, trust.Notice, trust.Danger} {
		all[reflect.TypeFor[trust.Severity]()] = append(all[reflect.TypeFor[trust.Severity]()], string(sev))
	}
	return all
}

// problem is an error of the API as the document has it.
func problem(code api.Code) openapi.Error { return openapi.Error{Status: code.Status, Code: code.Name} }

// describe is the entry of an operation. Its errors are those that the operation names
// itself and those which follow from what it is: one that takes a role can be refused for
// want of it, one that is no GET for want of the CSRF token, one that writes by
// admin.readOnly.
func describe(o *api.Operation) openapi.Operation {
	d := openapi.Operation{
		ID: o.ID, Method: o.Method, Path: o.Path, Tag: o.Tag, Summary: o.Summary, Role: string(o.Role),
		In: o.In, YAML: o.YAML, Out: o.Out, Status: http.StatusOK, Media: o.Media,
	}
	if o.Status != 0 {
		d.Status = o.Status
	}
	for _, p := range o.Query() {
		// A number has bounds and a text may have a list of values; nothing else is in
		// queries.
		schema := openapi.Schema{"type": "string"}
		switch {
		case p.Most > 0:
			schema = openapi.Schema{"type": "integer", "minimum": p.Least, "maximum": p.Most}
		case p.Values != nil:
			schema["enum"] = p.Values
		}
		d.Query = append(d.Query, openapi.Parameter{Name: p.Name, Text: p.Text, Required: p.Required, Schema: schema})
	}
	codes := o.Codes()
	if o.Role != nobody {
		codes = append(codes, unauthenticated, throttled, forbidden, crossOrigin, noProvider)
	}
	if o.Method != http.MethodGet {
		codes = append(codes, csrf)
	}
	if o.Writes {
		codes = append(codes, readOnly)
	}
	for _, code := range codes {
		d.Errors = append(d.Errors, problem(code))
	}
	return d
}
