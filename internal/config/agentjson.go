package config

import (
	"errors"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Problems are what is wrong with a document, in words without a place in it: who sends JSON to an
// API has no line to look up, and the document may be one line.
type Problems []string

// Error implements error. It says the first of them; the API lists all.
func (p Problems) Error() string { return p[0] }

// ReadAgent reads an agent as agents: lists them, but as JSON, from somebody who may
// register agents and must not be able to read this machine's files or environment by
// doing so: no file can be named in it, and ${NAME} is what it is. The error is Problems.
func ReadAgent(data []byte) (agents.Config, error) {
	var a agents.Config
	root, err := agentNode(data)
	if err != nil {
		return a, err
	}
	s := newShape("", "")
	s.secrets = func(n *yaml.Node, path keypath.Path) {
		// {file: PATH} would read any file of this machine into a header that an agent is sent.
		if n.Kind != yaml.ScalarNode {
			s.wrong(n, path, "want the secret itself; files cannot be named here")
		}
	}
	s.visit(root, reflect.TypeFor[agents.Config](), nil)
	if len(s.errs) > 0 {
		return a, problems(s.errs...)
	}
	if err := root.Load(&a, yaml.WithKnownFields()); err != nil {
		return a, problems(located("", err, s))
	}
	// A path that is only opened would still tell whether there is such a file.
	readPaths(&a, func(path *string) {
		if *path != "" {
			err = Problems{"files cannot be named here, neither for tls, nor as a source of instances or a schema"}
		}
	})
	return a, err
}

// ShowAgent is what ReadAgent reads without its secrets, those in URLs included. Nothing is filled
// in: it shows what was registered, not what came of it.
func ShowAgent(data []byte) (jsontext.Value, error) {
	root, err := agentNode(data)
	if err != nil {
		return nil, err
	}
	const hidden = "(secret)"
	s := newShape("", "")
	s.secrets = func(n *yaml.Node, _ keypath.Path) {
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: hidden, Line: n.Line, Column: n.Column}
	}
	s.visit(root, reflect.TypeFor[agents.Config](), nil)
	hideURLs(root)
	var text secret.JSON
	if err := text.UnmarshalYAML(root); err != nil {
		return nil, err
	}
	return jsontext.Value(text), nil
}

// AgentJSON is a draft of an agent as JSON, as ReadAgent takes it. Texts stay as they are
// spelled, also those that look like numbers.
func AgentJSON(text []byte) (jsontext.Value, error) {
	root, err := draftedAgent(text)
	if err != nil {
		return nil, problems(err)
	}
	list, err := asJSON(root)
	if err != nil {
		return nil, problems(err)
	}
	return list, nil
}

// agentNode reads JSON as strictly as JSON can be: one object, no name twice. Its members are in the order of
// their names, unless more says otherwise.
func agentNode(data []byte, more ...jsontext.Options) (*yaml.Node, error) {
	text := jsontext.Value(data).Clone()
	if text.Kind() != '{' || !text.IsValid() {
		return nil, Problems{"want an agent as a JSON object, without a name that is there twice"}
	}
	if err := text.Canonicalize(more...); err != nil { // no escapes that YAML reads in another way
		return nil, Problems{"want an agent as a JSON object, without a name that is there twice"}
	}
	doc, err := document("", text)
	if err != nil {
		return nil, problems(err)
	}
	return doc.Content[0], nil
}

// problems are errors without their places.
func problems(errs ...error) error {
	var list Problems
	for _, err := range errs {
		var p *problem
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			var inner Problems
			if errors.As(problems(many.Unwrap()...), &inner) {
				list = append(list, inner...)
			}
			continue
		}
		if errors.As(err, &p) { // the place is of no use, see Problems
			err = p.err
		}
		list = append(list, err.Error())
	}
	return list
}
