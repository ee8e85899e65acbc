package config

import (
	"errors"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Document is a YAML file beside the configuration that is read as strictly.
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
	s := checkShape(path, filepath.Dir(path), root.Content[0], reflect.TypeFor[T]())
	if err := root.Load(into, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, located(path, err, s))
	}
	return &Document{path, root}, errors.Join(s.errs...)
}

// Wrong says that something is wrong with the value that the keys lead to, or with the
// innermost that is there.
func (d *Document) Wrong(err error, keys ...string) error {
	return problemAt(d.name, find(d.root, keys), "%s: %w", spell(keys), err)
}

// Line is where the value is that the keys lead to, from 1.
func (d *Document) Line(keys ...string) int { return find(d.root, keys).Line }
