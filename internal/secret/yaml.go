package secret

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxFile is the largest file a Value is read from. Keys and tokens are a few
// KiB; more is a wrong path, and a device file must not fill the memory.
const maxFile = 64 << 10

// errForm names what was expected and nothing of what was found: a credential
// in the wrong place must not end up in an error message.
var errForm = errors.New("want the text itself or {file: path}")

// UnmarshalYAML reads a scalar, taken as it is spelled, or a mapping with the
// one key "file", whose content becomes the text without one final line end.
// A null is the zero Value. Relative paths are relative to the working
// directory. Errors name the path and never the content.
func (v *Value) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		*v = Value{}
	case n.Kind == yaml.ScalarNode:
		*v = New(n.Value)
	case n.Kind == yaml.MappingNode:
		path, ok := filePath(n)
		if !ok {
			return fmt.Errorf("line %d: read secret: %w", n.Line, errForm)
		}
		if err := v.ReadFile(path); err != nil {
			return fmt.Errorf("line %d: read secret: %w", n.Line, err)
		}
	default:
		return fmt.Errorf("line %d: read secret: %w", n.Line, errForm)
	}
	return nil
}

// filePath returns P of {file: P}.
func filePath(n *yaml.Node) (string, bool) {
	if len(n.Content) != 2 || n.Content[0].Value != "file" {
		return "", false
	}
	path := n.Content[1]
	if path.Kind == yaml.AliasNode {
		path = path.Alias
	}
	ok := path.Kind == yaml.ScalarNode && path.ShortTag() == "!!str" && path.Value != ""
	return path.Value, ok
}

// ReadFile makes the Value a file's text without one final line end, which editors and
// shells add and nobody means. An empty file is an error: it is a mount or a
// template that failed, and an empty credential must not pass for a chosen one.
func (v *Value) ReadFile(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return err // os errors name the path
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if len(content) > maxFile {
		return fmt.Errorf("read %s: larger than 64KiB", path)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if text == "" {
		return fmt.Errorf("read %s: the file is empty", path)
	}
	*v = New(text)
	return nil
}
