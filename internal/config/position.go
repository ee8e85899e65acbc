package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// located turns the YAML library's errors into file:line:column, one per line.
func located(name string, err error) error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		errs := make([]error, 0, len(many.Errors))
		for _, e := range many.Errors {
			errs = append(errs, located(name, e))
		}
		return errors.Join(errs...)
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return fmt.Errorf("%s:%d:%d: %s", name, one.Mark.Line, one.Mark.Column, plain(one.Message))
	}
	return fmt.Errorf("%s: %w", name, err)
}

// unknown is how the library words an unknown key: with the name of a Go type,
// which means nothing to the reader of a configuration file.
var unknown = regexp.MustCompile(`^field (.*) not found in type .*$`)

func plain(message string) string {
	return unknown.ReplaceAllString(message, `unknown key "$1"`)
}

// placed adds file, line and column to errors of Validate, by walking the
// document along the path of the section as far as it goes.
func placed(name string, doc *yaml.Node, err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range many.Unwrap() {
			errs = append(errs, placed(name, doc, e))
		}
		return errors.Join(errs...)
	}
	var s *section
	if !errors.As(err, &s) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if many, ok := s.err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range many.Unwrap() {
			errs = append(errs, placed(name, doc, &section{path: s.path, err: e}))
		}
		return errors.Join(errs...)
	}
	n := find(doc, append(append([]string(nil), s.path...), keys(s.err.Error())...))
	return fmt.Errorf("%s:%d:%d: %w", name, n.Line, n.Column, err)
}

// leading matches the key path that a section's own errors begin with, as in
// `credentials[2].oauth2: …`.
var leading = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*)(?:\[(\d+)\])?[.:]`)

func keys(text string) []string {
	var path []string
	for {
		m := leading.FindStringSubmatch(text)
		if m == nil {
			return path
		}
		path = append(path, m[1])
		if m[2] != "" {
			path = append(path, m[2])
		}
		end := text[len(m[0])-1]
		text = text[len(m[0]):]
		if end == ':' {
			if len(text) == 0 || text[0] != ' ' {
				return path
			}
			text = text[1:]
		}
	}
}

// find follows keys and indexes from the document's root and returns the
// deepest node there is.
func find(n *yaml.Node, path []string) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, step string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

func readLimited(to *bytes.Buffer, from io.Reader) error {
	n, err := to.ReadFrom(io.LimitReader(from, sizeLimit+1))
	if err != nil {
		return err
	}
	if n > sizeLimit {
		return fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return nil
}
