package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// RegisteredText is a registered agent as YAML, in the order in which it was registered. Markers
// stand in the places of its secrets, which PUT puts back (keepSecrets).
func RegisteredText(doc []byte) (string, error) {
	root, err := agentNode(doc, jsontext.ReorderRawObjects(false))
	if err != nil {
		return "", err
	}
	_, s := conceal(root)
	if len(s.errs) > 0 {
		return "", problems(s.errs...)
	}
	return blockText(root)
}

// WrittenText is an agent as the file has it that is named by its place, FILE:LINE as in
// Config.AgentPlaces, with markers in the places of secrets. The file is read anew: it is what somebody will
// change. References to files and to the environment are as they are written. Comments are left
// out, as they may hold what was a secret yesterday.
func WrittenText(place, id string) (string, error) {
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return "", fmt.Errorf("agent %q is in no file", id)
	}
	name := place[:at]
	line, _ := strconv.Atoi(place[at+1:])
	data, err := readFile(name)
	if err != nil {
		return "", err
	}
	doc, err := document(name, data)
	if err != nil {
		return "", err
	}
	var found *yaml.Node
	list := within(doc.Content[0], keypath.Step{Key: "agents"})
	for i := 0; list != nil && i < len(target(list).Content); i++ {
		item := target(target(list).Content[i])
		if named := child(item, "id"); named != nil && (named.Value == id || found == nil && named.Line == line) {
			found = item
		}
	}
	if found == nil {
		return "", fmt.Errorf("%s has no agent %q any more: reload the configuration", filepath.Base(name), id)
	}
	root := unaliased(found)
	_, s := conceal(root)
	for _, err := range s.errs {
		if !aboutReference(root, err) {
			return "", fmt.Errorf("%s is not what was loaded, and not valid: see a2a-gateway validate", filepath.Base(name))
		}
	}
	return blockText(root)
}

// aboutReference reports whether a mistake is that of a value which the environment has.
func aboutReference(root *yaml.Node, err error) (yes bool) {
	var p *problem
	if !errors.As(err, &p) {
		return false
	}
	eachScalar(root, nil, func(n *yaml.Node, _ keypath.Path) {
		yes = yes || n.Line == p.line && n.Column == p.column && strings.Contains(n.Value, "${")
	})
	return yes
}

// unaliased is a copy without anchors, aliases and comments. checkTree has bounded how many nodes that are.
func unaliased(n *yaml.Node) *yaml.Node {
	if n = target(n); n == nil {
		return nil
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line, Column: n.Column}
	for _, part := range n.Content {
		c.Content = append(c.Content, unaliased(part))
	}
	return c
}

// blockText writes a document with a line for each value.
func blockText(root *yaml.Node) (string, error) {
	unstyle(root)
	var out bytes.Buffer
	to := yaml.NewEncoder(&out)
	to.SetIndent(2)
	if err := errors.Join(to.Encode(root), to.Close()); err != nil {
		return "", fmt.Errorf("write the agent as YAML: %w", err)
	}
	return out.String(), nil
}

// unstyle takes away how values were written, but that a text in quotes is a text.
func unstyle(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		n.Tag = "!!str"
	}
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		n.Style = 0
	}
	for _, part := range n.Content {
		unstyle(part)
	}
}

// draftedAgent is the document of a draft, without aliases: what an anchor holds could otherwise take a
// secret that is put back to another place.
func draftedAgent(text []byte) (*yaml.Node, error) {
	if len(text) > sizeLimit {
		return nil, &problem{name: draft, err: errors.New("it is larger than a file may be")}
	}
	doc, err := document(draft, text)
	if err != nil {
		return nil, err
	}
	return unaliased(doc.Content[0]), nil
}

// asJSON writes a document as JSON. The error has the place of what JSON has not, such as a merge key.
func asJSON(root *yaml.Node) (jsontext.Value, error) {
	s := newShape(draft, "")
	s.texts = true
	s.secrets = func(n *yaml.Node, _ keypath.Path) {
		if n.Kind == yaml.ScalarNode {
			n.Tag = "!!str"
		}
	}
	s.visit(root, reflect.TypeFor[agents.Config](), nil)
	var out secret.JSON
	if err := out.UnmarshalYAML(root); err != nil {
		return nil, located(draft, err, nil)
	}
	return jsontext.Value(out), nil
}

// KeepSecrets is the JSON of an agent with secrets of the one that is registered in the places of
// their markers. The error is Problems where a marker stands elsewhere, or where calls would go
// elsewhere; kept is nil where nothing is registered.
func KeepSecrets(doc, kept []byte) (jsontext.Value, error) {
	root, err := agentNode(doc, jsontext.ReorderRawObjects(false))
	if err != nil {
		return nil, err
	}
	before, err := asJSON(root)
	if err != nil {
		return nil, problems(err)
	}
	if errs := keepSecrets(root, kept); errs != nil {
		return nil, problems(errs...)
	}
	after, err := asJSON(root)
	if err != nil || bytes.Equal(before, after) {
		return doc, err // as it was sent
	}
	return after, nil
}

// AgentDraft is a draft of an agent's configuration.
type AgentDraft struct {
	ID   string // that it has to have; "" for that of any agent there is
	Text []byte // YAML
	// Registered is the JSON of the agent that is registered under the id, whose secrets markers
	// keep. Nil for an agent of a file: files and the environment may be named then, and are not
	// read.
	Registered []byte
}

// DraftAgent reads and checks a draft as it would be if it was put in force in the place of the agent that
// there is. Nothing is opened. unread are what the environment or a marker stands for: it cannot be
// checked. An error that is about the draft is a DraftError.
func (c *Config) DraftAgent(d AgentDraft, rules *policy.Set, book *ext.Book) (a agents.Config, unread []string, err error) {
	root, err := draftedAgent(d.Text)
	if err != nil {
		return a, nil, &DraftError{Err: err}
	}
	skipped := map[place]bool{}
	if d.Registered == nil {
		unread = unreadable(root, skipped)
	} else if errs := keepSecrets(root, d.Registered); errs != nil {
		return a, nil, &DraftError{Err: errors.Join(errs...)}
	}
	errs := readDraft(root, &a, d.Registered != nil)
	// Values of an agent that cannot be read would be told as missing.
	if errs = without(errs, skipped); len(errs) == 0 {
		errs = without(c.checkDraft(root, &a, d.ID, rules, book), skipped)
	}
	if err := errors.Join(errs...); err != nil {
		e := &DraftError{Err: err}
		var first *problem
		if errors.As(err, &first) {
			e.Line = first.line
		}
		return a, unread, e
	}
	return a, unread, nil
}

// readDraft reads a draft as ReadAgent reads what is registered, or as an agent of a file without the
// files that it names.
func readDraft(root *yaml.Node, a *agents.Config, registered bool) []error {
	s := newShape(draft, "")
	s.secrets = s.unreadSecret
	if registered {
		s.secrets = func(n *yaml.Node, path keypath.Path) {
			if n.Kind != yaml.ScalarNode {
				s.wrong(n, path, "want the secret itself; files cannot be named here")
			}
		}
	}
	s.visit(root, reflect.TypeFor[agents.Config](), nil)
	if registered && len(s.errs) == 0 {
		_, err := asJSON(root)
		s.errs = append(s.errs, flat(err)...)
	}
	if err := root.Load(a, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, flat(located(draft, err, s))...)
	}
	if registered {
		readPaths(a, func(path *string) {
			if *path != "" {
				s.errs = append(s.errs, problemAt(draft, root, "files cannot be named here, neither for tls, nor as a source of instances or a schema"))
			}
		})
		return s.errs
	}
	readPaths(&a.Skills, func(path *string) { *path = "" }) // schemas would be read
	return s.errs
}

// unreadSecret puts a text into the place of a secret that is in a file, which a draft does not have read.
func (s *shape) unreadSecret(n *yaml.Node, path keypath.Path) {
	switch {
	case n.Kind == yaml.ScalarNode:
	case namesFile(n):
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "unread", Line: n.Line, Column: n.Column}
	default:
		s.wrong(n, path, "want the secret itself or {file: PATH}")
	}
}

// checkDraft is what is wrong with values, beside the other agents and under the rules.
func (c *Config) checkDraft(root *yaml.Node, a *agents.Config, id string, rules *policy.Set, book *ext.Book) []error {
	wrong := append([]error{a.Validate()}, checkAgent(book, a)...)
	_, err := files.New(a.FileParts, c.Policy.FileParts)
	wrong = append(wrong, keypath.At(err, "fileParts"))
	switch known := slices.ContainsFunc(c.Agents, func(of agents.Config) bool { return of.ID == a.ID }); {
	case id == "" && !known:
		wrong = append(wrong, keypath.At(fmt.Errorf("there is no agent %q", a.ID), "id"))
	case id != "" && a.ID != id:
		wrong = append(wrong, keypath.At(fmt.Errorf("the agent is %q: what has another id is another agent, which is registered by itself", id), "id"))
	}
	alone := &Config{Policy: c.Policy, Agents: []agents.Config{*a}}
	for _, err := range alone.checkUndeclared() {
		for _, e := range keypath.Errors(err) {
			wrong = append(wrong, keypath.At(e.Unwrap(), "credentials"))
		}
	}
	whole := *c
	whole.Agents = slices.Clone(c.Agents)
	for i := range whole.Agents {
		if whole.Agents[i].ID == a.ID {
			whole.Agents[i] = *a
			continue
		}
		for _, taken := range whole.Agents[i].Hosts {
			for j, h := range a.Hosts {
				if bare(h) == bare(taken) {
					wrong = append(wrong, keypath.At(fmt.Errorf("%q is taken by agent %q", h, whole.Agents[i].ID), "hosts", j))
				}
			}
		}
	}
	var errs []error
	for _, e := range keypath.Errors(errors.Join(wrong...)) {
		errs = append(errs, problemAt(draft, find(root, e.Path()), "%w", error(e)))
	}
	if rules == nil {
		return errs
	}
	for _, e := range keypath.Errors(whole.checkSkills(rules)) {
		errs = append(errs, problemAt(draft, find(root, keypath.Of("skills")), "%w", error(e)))
	}
	return errs
}

// unreadable puts texts that stand for others into the place of references to the environment and of
// markers, and says what is not checked. skipped has their places.
func unreadable(root *yaml.Node, skipped map[place]bool) (unread []string) {
	eachScalar(root, nil, func(n *yaml.Node, path keypath.Path) {
		at := strings.Index(n.Value, keptMark)
		if at < 0 && !strings.Contains(n.Value, "${") {
			return
		}
		skipped[place{n.Line, n.Column}] = true
		if at >= 0 {
			n.Value = strings.TrimSuffix(strings.TrimSpace(n.Value[:at]), "?…") + "unread"
			return
		}
		unread = append(unread, fmt.Sprintf("line %d: %s: the environment is not read here, and the value not checked", n.Line, path))
		if value, err := replace(n.Value, func(name string) (string, bool) { return name, true }); err == nil {
			n.Value = value
		}
	})
	return unread
}

// without are errors but for those at some places.
func without(errs []error, at map[place]bool) (left []error) {
	for _, err := range errs {
		for _, one := range flat(err) {
			var p *problem
			if errors.As(one, &p) && at[place{p.line, p.column}] {
				continue
			}
			left = append(left, one)
		}
	}
	return left
}

// flat are the errors that are joined in one.
func flat(err error) (all []error) {
	if err == nil {
		return nil
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, one := range many.Unwrap() {
		all = append(all, flat(one)...)
	}
	return all
}
