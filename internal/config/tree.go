package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/yamlerror"
)

// aliasBudget bounds how many nodes a file may reach through aliases. A few
// lines of aliases to aliases would otherwise unfold into billions.
// A file that repeats conditions by anchors stays far below it.
const aliasBudget = 100_000

// tree looks at a document before it is given a meaning.
// It stops at the budget: an error for each further alias would be as long as what it unfolds to.
type tree struct {
	name   string
	budget int
	active map[*yaml.Node]bool // anchors being walked through an alias
	errs   []error
}

// document parses the one document that a file holds.
func document(name string, data []byte) (*yaml.Node, error) {
	doc, err := oneDocument(name, data)
	if err != nil {
		return nil, err
	}
	return doc, checkTree(name, doc)
}

// oneDocument is the one document of a file. A second one would be read by nobody: who joins two
// files by --- means both.
func oneDocument(name string, data []byte) (*yaml.Node, error) {
	var docs []yaml.Node
	if err := yaml.Load(data, &docs, yaml.WithAllDocuments()); err != nil {
		return nil, located(name, yamlerror.In(data, err), nil)
	}
	switch len(docs) {
	case 0:
		return nil, &problem{name, 1, 1, errors.New("the file is empty")}
	case 1:
		return &docs[0], nil
	}
	return nil, problemAt(name, &docs[1], "a second document begins here; a file holds one")
}

// checkTree refuses what no section could want: a document that is not a
// mapping, tags (which make the library guess), and aliases that never end.
// It runs before references are replaced: what the environment holds cannot bring in a tag or an
// alias.
func checkTree(name string, doc *yaml.Node) error {
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return &problem{name, 1, 1, errors.New("the file is empty")}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return problemAt(name, root,
			"want a mapping of sections, such as server and agents, found %s", kindOf(root))
	}
	t := tree{name: name, budget: aliasBudget, active: map[*yaml.Node]bool{}}
	t.walk(root, false)
	return errors.Join(t.errs...)
}

// walk visits n and all below it; through tells that an alias led here. What an anchor holds is
// looked at where it stands; through aliases it only counts against the budget.
func (t *tree) walk(n *yaml.Node, through bool) {
	if t.budget < 0 {
		return
	}
	if through {
		t.budget--
		if t.budget < 0 {
			t.errs = append(t.errs, problemAt(t.name, n, "aliases unfold into more than %d nodes", aliasBudget))
			return
		}
	}
	// !!str is let through, as it only says what a text is anyway.
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str" && !through {
		t.errs = append(t.errs, problemAt(t.name, n, "tags are not used here, write the value alone"))
		return
	}
	if n.Kind == yaml.AliasNode {
		if t.active[n.Alias] {
			t.errs = append(t.errs, problemAt(t.name, n, "the alias stands inside of what it stands for"))
			return
		}
		t.active[n.Alias] = true
		t.walk(n.Alias, true)
		delete(t.active, n.Alias)
		return
	}
	for _, child := range n.Content {
		t.walk(child, through)
	}
}

// reference is ${NAME} or ${NAME:-default}, at the beginning of a text.
var reference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expand replaces ${NAME} in scalar values after parsing, so that a value with a
// colon or a newline cannot change the structure of the file. Keys are left
// alone. As in a shell, the default of ${NAME:-default} stands in for a variable
// that is unset or empty. An unset variable without a default is an error: an
// empty secret would be worse.
func expand(name string, n *yaml.Node, lookup func(string) (string, bool)) error {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		value, err := replace(n.Value, lookup)
		if err != nil {
			return problemAt(name, n, "%w", err)
		}
		n.Value = value
		retag(n)
	}
	var errs []error
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		errs = append(errs, expand(name, child, lookup))
	}
	return errors.Join(errs...)
}

// replace expands one text. $${ is a literal ${. Errors do not show the text,
// which may hold a secret beside the reference.
//
//	${HOST:-localhost}:8080 → localhost:8080     $${HOST} → ${HOST}
func replace(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	var errs []error
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			out.WriteString(text)
			return out.String(), errors.Join(errs...)
		}
		if i > 0 && text[i-1] == '$' {
			out.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		out.WriteString(text[:i])
		m := reference.FindStringSubmatch(text[i:])
		if m == nil {
			return "", errors.New("${ begins no reference like ${NAME} or ${NAME:-default}; write $${ for a literal ${")
		}
		value, ok := lookup(m[1])
		switch {
		case m[2] != "" && value == "":
			value = m[3]
		// All variables that are missing are told at once.
		case !ok:
			errs = append(errs, fmt.Errorf("environment variable %s is not set", m[1]))
		}
		out.WriteString(value)
		text = text[i+len(m[0]):]
	}
}

// Decimal numbers, as JSON has them too.
var (
	integer  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	fraction = regexp.MustCompile(`^-?(0|[1-9][0-9]*)\.[0-9]+$`)
)

// retag lets an expanded value without quotes be a number or a truth value, as
// if it had been written there. It stays a text where it looks like null: what
// is set to nothing is not the same as what is left out.
func retag(n *yaml.Node) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle |
		yaml.FoldedStyle | yaml.TaggedStyle
	switch {
	case n.Style&quoted != 0:
	case n.Value == "true", n.Value == "false":
		n.Tag = "!!bool"
	case integer.MatchString(n.Value):
		n.Tag = "!!int"
	case fraction.MatchString(n.Value):
		n.Tag = "!!float"
	default:
		n.Tag = "!!str"
	}
}

// target follows an alias to what it stands for. Errors about it are placed there: that is where
// somebody has to change something.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isNull is true of a key without a value, of null and of ~.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf names what was found, and never quotes it: it may be a secret in the wrong place.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}
