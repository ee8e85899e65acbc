package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

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

// child is the value of a key, also of one merged in by <<, or an item.
func child(n *yaml.Node, step string) *yaml.Node {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].ShortTag() == "!!merge" {
				return child(n.Content[i+1], step)
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// rule matches how policy names the rule that an error is about.
var rule = regexp.MustCompile(`^rule (\d+|"(?:[^"\\]|\\.)*"): `)

// word matches the keys that an error may begin with, as in `effect is …`.
var word = regexp.MustCompile(`^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)*`)

// quotation matches the first thing that an error quotes.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// seek goes from the node an error is known to be in further down, by the words
// of the error: a rule that it names, a key that it begins with, a list item
// that it quotes. What it does not find changes nothing.
func seek(n *yaml.Node, text string) *yaml.Node {
	if m := rule.FindStringSubmatch(text); m != nil {
		if r := ruleNode(child(n, "rules"), m[1]); r != nil {
			return seek(r, text[len(m[0]):])
		}
		if target(n).Kind != yaml.MappingNode {
			return n // within the rule already
		}
	}
	for _, key := range strings.Split(word.FindString(text), ".") {
		next := child(n, key)
		if next == nil {
			next = child(n, key+"s") // `agent "x" is not configured` is about agents
		}
		if next == nil {
			break
		}
		n = next
	}
	for _, q := range quotation.FindAllString(text, -1) {
		if quoted, err := strconv.Unquote(q); err == nil {
			if item := holding(n, quoted); item != nil {
				return item
			}
		}
	}
	return n
}

// ruleNode finds a rule by its number or by its name. Of two with the same name
// it is the later one that is wrong.
func ruleNode(rules *yaml.Node, label string) *yaml.Node {
	if rules == nil {
		return nil
	}
	if i, err := strconv.Atoi(label); err == nil {
		return child(rules, strconv.Itoa(i-1))
	}
	name, err := strconv.Unquote(label)
	if err != nil {
		return nil
	}
	for _, r := range slices.Backward(target(rules).Content) {
		if n := child(r, "name"); n != nil && target(n).Value == name {
			return r
		}
	}
	return nil
}

// holding is the last scalar below a list or mapping that reads as value: where
// something is there twice, the second one is the mistake.
func holding(n *yaml.Node, value string) *yaml.Node {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n
	}
	for i, item := range slices.Backward(n.Content) {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		if found := holding(item, value); found != nil {
			return found
		}
	}
	return nil
}
