package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Source is a schema as the configuration has it: the path of a JSON file, or the
// schema itself, written as YAML. The zero Source is none.
type Source struct {
	File   string `file:"read"` // path; relative to the configuration file
	Inline []byte // JSON
}

// maxFile is the largest schema; a wrong path must not fill the memory.
// Published schemas of whole protocols have a few hundred KiB at most.
const maxFile = 1 << 20

// inline is where a schema without a file stands. It has no neighbours.
const inline = "inline:///schema"

// IsZero reports whether there is no schema.
func (s Source) IsZero() bool { return s.File == "" && s.Inline == nil }

// Document is the schema as JSON that stands alone; nil for none, and for one that refers to files beside
// it.
func (s Source) Document() []byte {
	doc, _, _, err := s.read()
	if err != nil || s.IsZero() || refersElsewhere(doc) {
		return nil
	}
	if s.File == "" {
		return s.Inline
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		return nil
	}
	return text
}

// refersElsewhere reports whether a part of a schema refers to another document.
func refersElsewhere(doc any) bool {
	switch v := doc.(type) {
	case map[string]any:
		for key, value := range v {
			if ref, ok := value.(string); ok && key == "$ref" && !strings.HasPrefix(ref, "#") || refersElsewhere(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, refersElsewhere)
	}
	return false
}

// UnmarshalYAML reads a text, which is a path, or a mapping, which is the schema.
// A number or a truth value is refused, as it is neither; null is a schema that is left out.
func (s *Source) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		*s = Source{}
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "":
		*s = Source{File: n.Value}
	case n.Kind == yaml.MappingNode:
		var value secret.JSON
		if err := value.UnmarshalYAML(n); err != nil {
			return err
		}
		*s = Source{Inline: value}
	default:
		return fmt.Errorf("line %d: want the path of a JSON file, or a schema as a mapping", n.Line)
	}
	return nil
}

// read returns the document, the URL by which it is known, and what it may refer to.
// An inline schema has no neighbours, as it stands in no directory of its own.
func (s Source) read() (doc any, at string, beside neighbours, err error) {
	if s.File == "" {
		doc, err = decode(s.Inline)
		return doc, inline, "", err
	}
	// The compiler knows documents by URL: references of a file are relative to its own.
	path, err := filepath.Abs(s.File)
	if err != nil {
		return nil, "", "", fmt.Errorf("find %s: %w", s.File, err)
	}
	beside = neighbours(filepath.Dir(path))
	f, err := os.Open(s.File)
	if err != nil {
		return nil, "", "", err // os errors name the path
	}
	defer func() { _ = f.Close() }()
	doc, err = load(f)
	if err != nil {
		return nil, "", "", fmt.Errorf("%s: %w", s.File, err)
	}
	return doc, (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), beside, nil
}

// told is the library's error in one line, with the path of the file. One about an address that
// an inline schema refers to is about the place of the reference.
func (s Source) told(err error, doc any) error {
	var meta *jsonschema.SchemaValidationError
	var broken *jsonschema.ValidationError
	if errors.As(err, &meta) && errors.As(meta.Err, &broken) {
		err = first(nil, broken)
	}
	// The URL of an inline schema is made up and would tell an operator nothing.
	text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), inline, "the schema"), "\n", " ")
	if s.File != "" {
		return errors.New(s.File + ": " + text)
	}
	var elsewhere *jsonschema.LoadURLError
	if errors.As(err, &elsewhere) {
		return keypath.Point(errors.New(text), reference(doc, elsewhere.URL))
	}
	return errors.New(text)
}

// reference is the path of the first text in a document that reads as an address.
func reference(doc any, address string) keypath.Path {
	switch v := doc.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == address {
				return keypath.Of(key)
			}
			if p := reference(v[key], address); p != nil {
				return keypath.Of(key, p)
			}
		}
	case []any:
		for i, item := range v {
			if p := reference(item, address); p != nil {
				return keypath.Of(i, p)
			}
		}
	}
	return nil
}

// neighbours are the files of a directory, the only documents that schemas in it may
// refer to; "" has none.
type neighbours string

// Load reads a document that a schema refers to.
// A schema that could name any file would tell by its errors what is in it.
func (n neighbours) Load(address string) (any, error) {
	u, err := url.Parse(address)
	if err != nil || n == "" || u.Scheme != "file" || u.Host != "" ||
		filepath.Dir(filepath.FromSlash(u.Path)) != string(n) {
		return nil, errors.New("not a file beside the schema; nothing else is read")
	}
	dir, err := os.OpenRoot(string(n)) // also keeps symbolic links inside
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.Open(filepath.Base(filepath.FromSlash(u.Path)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return load(f)
}

// load reads a JSON document. A pipe or a device, which might never end, is refused.
func load(f *os.File) (any, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return decode(data)
}

// decode is strict where JSON leaves it open: of a name that is there twice, one
// would be ignored.
func decode(data []byte) (any, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %s", quantity.Size(maxFile))
	}
	// The strict decoder reads the document first, for its errors; the library's own makes what it
	// compiles.
	d := jsontext.NewDecoder(bytes.NewReader(data))
	if _, err := d.ReadValue(); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("not one JSON value")
	}
	return doc, nil
}
