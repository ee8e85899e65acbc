package config

import (
	"errors"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Document is a YAML file beside the configuration that is read as strictly, such as the cases of
// a2a-gateway policy test.
// It is kept for the places of keys, after its values have been read into a struct.
type Document struct {
	name string
	root *yaml.Node
}

// ReadDocument reads a file into a struct. Unknown keys, keys that are there twice, and
// values of another kind are errors, all at once, each with file, line and column.
// References to environment variables are texts like others.
func ReadDocument[T any](path string, into *T) (*Document, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err // names the path
	}
	root, err := document(path, data)
	if err != nil {
		return nil, err
	}
	return &Document{path, root}, decode(path, filepath.Dir(path), root, into)
}

// decode reads a document into a struct. The error is all that is wrong with it: mistakes of form by
// the comparison with the types, and of values by the types that read themselves. What both would
// tell of one place is told once, in the words of the former.
func decode[T any](name, dir string, doc *yaml.Node, into *T) error {
	s := checkShape(name, dir, doc.Content[0], reflect.TypeFor[T]())
	// The library reports values that a type refuses, with line and column; the shape has told of
	// those that have a wrong form already, at the same places, and located leaves these out.
	if err := doc.Load(into, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, located(name, err, s))
	}
	return errors.Join(s.errs...)
}

// Wrong says that something is wrong with the value that a path leads to, or with the innermost
// that is there.
func (d *Document) Wrong(err error, path keypath.Path) error {
	return problemAt(d.name, find(d.root, path), "%s: %w", path, err)
}

// Line is where the value is that a path leads to, from 1.
func (d *Document) Line(path keypath.Path) int { return find(d.root, path).Line }
