package secret

import (
	"bytes"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"
)

// JSON is a value of any kind, written as YAML in the configuration and kept as JSON.
// Numbers keep every digit. The zero JSON is that no value was written, or null.
type JSON []byte

// What a value may grow to. Aliases of aliases would otherwise unfold without end.
const (
	maxJSON  = 1 << 20
	maxDepth = 64
)

// UnmarshalYAML reads any value that JSON has too. A date stays the text as which it
// is spelled. Errors name the line, and never the value.
func (j *JSON) UnmarshalYAML(n *yaml.Node) error {
	p := printer{}
	if err := p.value(n, maxDepth); err != nil {
		return err
	}
	*j = p.out
	return nil
}

// printer writes YAML as JSON.
type printer struct{ out []byte }

func (p *printer) value(n *yaml.Node, depth int) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case depth == 0:
		return misplaced(n, "nested too deeply")
	case len(p.out) > maxJSON:
		return misplaced(n, "larger than 1MiB")
	case n.Kind == yaml.MappingNode:
		return p.object(n, depth)
	case n.Kind == yaml.SequenceNode:
		return p.array(n, depth)
	}
	text, err := scalar(n)
	if err != nil {
		return misplaced(n, err.Error())
	}
	p.out = append(p.out, text...)
	return nil
}

// object prints a mapping of YAML as a JSON object, its members in the order of the file.
func (p *printer) object(n *yaml.Node, depth int) error {
	seen := make(map[string]bool, len(n.Content)/2)
	p.out = append(p.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" || key.ShortTag() == "!!merge":
			return misplaced(key, "the key is not a name")
		case seen[key.Value]:
			return misplaced(key, "a key is there twice")
		}
		seen[key.Value] = true
		if i > 0 {
			p.out = append(p.out, ',')
		}
		name, err := jsontext.AppendQuote(nil, key.Value)
		if err != nil {
			return misplaced(key, "the key is not UTF-8")
		}
		p.out = append(append(p.out, name...), ':')
		if err := p.value(n.Content[i+1], depth-1); err != nil {
			return err
		}
	}
	p.out = append(p.out, '}')
	return nil
}

// array prints a sequence of YAML as a JSON array.
func (p *printer) array(n *yaml.Node, depth int) error {
	p.out = append(p.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		if err := p.value(item, depth-1); err != nil {
			return err
		}
	}
	p.out = append(p.out, ']')
	return nil
}

// misplaced is an error with its own place, which may be deep in the value.
func misplaced(n *yaml.Node, text string) error {
	mark := yaml.Mark{Line: n.Line, Column: n.Column}
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{{Mark: mark, Message: text}}}
}

// scalar is a single value as JSON.
func scalar(n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return []byte("null"), nil
	case "!!bool":
		return bytes.ToLower([]byte(n.Value)), nil
	case "!!int":
		return whole(n.Value)
	case "!!float":
		return fractional(n.Value)
	case "!!str", "!!timestamp":
		text, err := jsontext.AppendQuote(nil, n.Value)
		if err != nil {
			return nil, errors.New("not UTF-8")
		}
		return text, nil
	}
	return nil, errors.New("JSON has no such value")
}

// number matches JSON's numbers, which YAML mostly spells alike.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// whole also reads what only YAML has: a plus, underscores, other bases.
func whole(text string) ([]byte, error) {
	if number.MatchString(text) {
		return []byte(text), nil
	}
	i, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+"), 0)
	if !ok {
		return nil, errors.New("not a number that JSON has")
	}
	return i.Append(nil, 10), nil
}

// edges are the places of a YAML number where JSON wants a digit: before a leading
// point, and behind a final one.
var edges = regexp.MustCompile(`^(-?)0*([0-9]*)\.?([0-9]*)([eE][+-]?[0-9]+)?$`)

// fractional also reads .5, 5. and the like. Infinity and NaN are errors.
func fractional(text string) ([]byte, error) {
	if number.MatchString(text) {
		return []byte(text), nil
	}
	m := edges.FindStringSubmatch(strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+"))
	if m == nil {
		return nil, errors.New("not a number that JSON has")
	}
	if m[2] == "" {
		m[2] = "0"
	}
	if m[3] != "" {
		m[3] = "." + m[3]
	}
	return []byte(strings.Join(slices.Clone(m[1:]), "")), nil
}
