package console

import (
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console/openapi"
)

// apiOperations are those about the API itself, and about who asks.
var apiOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/openapi.json", id: "openapi", tag: "api", role: Viewer,
		summary: "This document", out: reflect.TypeFor[jsontext.Value](), answer: (*Console).openapi,
	},
	{
		method: http.MethodGet, path: "/api/v1/session", id: "session", tag: "api", role: Viewer,
		summary: "Who asks, and what they may", out: reflect.TypeFor[Me](), answer: (*Console).me,
	},
}

func (s *Console) openapi(*call) (any, error) { return s.document, nil }

// document describes the API as it is served.
func document(version string) (jsontext.Value, error) {
	api := openapi.API{
		Title: "a2a-gateway admin API", Version: version,
		Text: "What the operator of a gateway sees of it and changes in it. An answer that is an error is a problem of RFC 9457 " +
			"with a code. Answers of GET have an ETag. Lists come in pages: next of one is the cursor of the following one.",
		Security: map[string]openapi.Schema{
			"session": {"type": "apiKey", "in": "cookie", "name": "__Host-" + sessionCookie,
				"description": "of GET /api/v1/login; without __Host- where there is no TLS. Changes show X-CSRF-Token, which GET /api/v1/session has"},
			"token": {"type": "http", "scheme": "bearer", "description": "the admin token, one of admin.tokens, or an access token of admin.oidc"},
		},
		Problem: reflect.TypeFor[Problem](),
		Values:  values(),
	}
	for _, code := range []string{codeUnknownHost, codeMalformed, codeInternal, codeState} {
		api.Common = append(api.Common, problem(code))
	}
	for i := range operations {
		api.Operations = append(api.Operations, operations[i].described())
	}
	return api.Document()
}

// values are the texts that types have.
func values() map[reflect.Type][]string {
	all := map[reflect.Type][]string{}
	for _, r := range roles() {
		all[reflect.TypeFor[Role]()] = append(all[reflect.TypeFor[Role]()], string(r))
	}
	for _, st := range trust.States() {
		all[reflect.TypeFor[trust.State]()] = append(all[reflect.TypeFor[trust.State]()], string(st))
	}
	for _, sev := range []trust.Severity{trust.Info, trust.Notice, trust.Danger} {
		all[reflect.TypeFor[trust.Severity]()] = append(all[reflect.TypeFor[trust.Severity]()], string(sev))
	}
	return all
}

func problem(code string) openapi.Error { return openapi.Error{Status: statusOf(code), Code: code} }

func (o *operation) described() openapi.Operation {
	d := openapi.Operation{
		ID: o.id, Method: o.method, Path: o.path, Tag: o.tag, Summary: o.summary, Role: string(o.role),
		In: o.in, Out: o.out, Status: http.StatusOK, Media: o.media,
	}
	if o.status != 0 {
		d.Status = o.status
	}
	for i := range o.params {
		p := &o.params[i]
		schema := openapi.Schema{"type": "string"}
		switch {
		case p.most > 0:
			schema = openapi.Schema{"type": "integer", "minimum": p.least, "maximum": p.most}
		case p.values != nil:
			schema["enum"] = p.values
		}
		d.Query = append(d.Query, openapi.Parameter{Name: p.name, Text: p.text, Required: p.required, Schema: schema})
	}
	codes := []string{codeInvalidParameter}
	if o.role != nobody {
		codes = append(codes, codeUnauthenticated, codeThrottled, codeForbidden, codeCrossOrigin, codeProvider)
	}
	if o.method != http.MethodGet {
		codes = append(codes, codeCSRF)
	}
	if o.writes {
		codes = append(codes, codeReadOnly, codeUnrecorded)
	}
	if o.in != nil {
		codes = append(codes, codeContentType, codeTooLarge)
	}
	for _, code := range append(codes, o.errors...) {
		d.Errors = append(d.Errors, problem(code))
	}
	return d
}
