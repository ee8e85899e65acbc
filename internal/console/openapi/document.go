// Package openapi describes an API as OpenAPI 3.1 does, by the table that the API is
// served from and the Go types of its requests and answers: there is nothing to keep up
// with by hand.
//
// It owns the form of the document. It does not own what is in an API, and serves
// nothing. It imports no other package of this module.
package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// API is what there is to describe.
type API struct {
	Title   string
	Version string
	Text    string // of the whole
	// Security has the ways to say who one is, by name, as security schemes.
	Security map[string]Schema
	// Problem is the type of all answers that are errors; it has a member code.
	Problem reflect.Type
	// Common are the errors of every operation.
	Common []Error
	// Values are the texts that a type has, where these are not just any.
	Values     map[reflect.Type][]string
	Operations []Operation
}

// Operation is one request that is answered.
type Operation struct {
	ID      string
	Method  string
	Path    string // with {id} for what is not fixed
	Tag     string // that it is listed under
	Summary string
	Role    string // the least that may; "" for anybody
	Query   []Parameter
	In      reflect.Type // of the body, which is JSON; nil for none
	YAML    bool         // the body may be YAML as well
	Out     reflect.Type // of the answer; nil for one that is not JSON
	Status  int          // of an answer that is none of the errors
	Media   string       // of an answer that is not JSON; "" for none
	Errors  []Error
}

// Parameter is one of the query.
type Parameter struct {
	Name     string
	Text     string
	Required bool
	Schema   Schema
}

// Error is an answer that says why not.
type Error struct {
	Status int
	Code   string
}

// Document is the API as JSON, the same each time.
func (a *API) Document() ([]byte, error) {
	s := &schemas{values: a.Values, types: map[string]reflect.Type{}, all: map[string]Schema{}}
	problem := s.of(a.Problem)
	paths := map[string]Schema{}
	for i := range a.Operations {
		o := &a.Operations[i]
		if paths[o.Path] == nil {
			paths[o.Path] = Schema{}
		}
		paths[o.Path][strings.ToLower(o.Method)] = a.operation(s, o, problem)
	}
	if s.err != nil {
		return nil, fmt.Errorf("describe the API: %w", s.err)
	}
	doc := Schema{
		"openapi": "3.1.0",
		"info":    Schema{"title": a.Title, "version": a.Version, "description": a.Text},
		"servers": []Schema{{"url": "/"}},
		"paths":   paths,
		"components": Schema{
			"schemas":         s.all,
			"securitySchemes": a.Security,
		},
	}
	text, err := json.Marshal(doc, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return text, nil
}

func (a *API) operation(s *schemas, o *Operation, problem Schema) Schema {
	op := Schema{
		"operationId": o.ID, "summary": o.Summary, "tags": []string{o.Tag}, "parameters": parameters(o),
		"responses": a.responses(s, o, problem), "security": []Schema{},
	}
	if o.Role != "" {
		op["x-role"] = o.Role
		var ways []Schema
		for _, name := range slices.Sorted(maps.Keys(a.Security)) {
			ways = append(ways, Schema{name: []string{}})
		}
		op["security"] = ways
	}
	if o.In != nil {
		media := Schema{"application/json": Schema{"schema": s.of(o.In)}}
		if o.YAML {
			media["application/yaml"] = Schema{"schema": s.of(o.In)}
		}
		op["requestBody"] = Schema{"required": true, "content": media}
	}
	return op
}

func parameters(o *Operation) []Schema {
	list := []Schema{}
	for segment := range strings.SplitSeq(o.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			list = append(list, Schema{
				"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": Schema{"type": "string", "minLength": 1},
			})
		}
	}
	for _, p := range o.Query {
		list = append(list, Schema{"name": p.Name, "in": "query", "description": p.Text, "required": p.Required, "schema": p.Schema})
	}
	return list
}

// responses has one for each status. Of the errors it lists the codes.
func (a *API) responses(s *schemas, o *Operation, problem Schema) Schema {
	good := Schema{"description": http.StatusText(o.Status)}
	content := Schema{}
	if o.Out != nil {
		content["application/json"] = Schema{"schema": s.of(o.Out)}
	}
	if o.Media != "" {
		content[o.Media] = Schema{}
	}
	if len(content) > 0 {
		good["content"] = content
	}
	all := Schema{strconv.Itoa(o.Status): good}
	if o.Out != nil && o.Method == http.MethodGet {
		all["304"] = Schema{"description": "Not Modified: the ETag in If-None-Match is still current"}
	}
	codes := map[int][]string{}
	for _, e := range slices.Concat(a.Common, o.Errors) {
		if !slices.Contains(codes[e.Status], e.Code) {
			codes[e.Status] = append(codes[e.Status], e.Code)
		}
	}
	for status, list := range codes {
		slices.Sort(list)
		all[strconv.Itoa(status)] = Schema{
			"description": strings.Join(list, ", "),
			"content": Schema{"application/problem+json": Schema{"schema": Schema{
				"allOf": []Schema{problem, {"properties": Schema{"code": Schema{"enum": list}, "status": Schema{"const": status}}}},
			}}},
		}
	}
	return all
}
