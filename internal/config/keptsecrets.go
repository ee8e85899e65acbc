package config

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// keptMark begins the text that stands in the place of a secret which stays at the gateway:
//
//	value: <kept: credentials[0].value>
//	card: https://x.example/card?… <kept: card>
//
// It names the place where the secret is, so that it means nothing anywhere else.
const keptMark = "<kept: "

// marker is the text in the place of the secret at a path.
func marker(path keypath.Path) string { return keptMark + path.String() + ">" }

// keptSecret is a secret that is not shown.
type keptSecret struct {
	shown string // what stands in its place
	value string
	at    keypath.Path
}

// wholeReference is a text that is nothing but a reference to a variable of the environment. One
// with a default is not: the default may be the secret.
var wholeReference = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// conceal puts markers in the places of all secrets of an agent, those in URLs included, and returns
// them by their paths. References to files and to the environment stay as they are written. The shape has
// what is wrong with the agent: below a key that no agent has may be a secret that no type tells of.
func conceal(root *yaml.Node) (map[string]keptSecret, *shape) {
	secrets := map[string]keptSecret{}
	s := newShape("", "")
	s.secrets = func(n *yaml.Node, path keypath.Path) {
		if wholeReference.MatchString(n.Value) || namesFile(n) {
			return
		}
		secrets[path.String()] = keptSecret{marker(path), n.Value, path}
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: marker(path), Line: n.Line, Column: n.Column}
	}
	s.visit(root, reflect.TypeFor[agents.Config](), nil)
	eachScalar(root, nil, func(n *yaml.Node, path keypath.Path) {
		shown := withoutSecrets(n.Value)
		if shown == n.Value {
			return
		}
		k := keptSecret{shown + " " + marker(path), n.Value, path}
		secrets[path.String()] = k
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k.shown, Line: n.Line, Column: n.Column}
	})
	return secrets, s
}

// namesFile reports whether a secret is written as {file: PATH}.
func namesFile(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "file" && n.Content[1].Kind == yaml.ScalarNode
}

// references are those to the environment within a text, without those that have a default.
var references = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// withoutSecrets is a URL without what may be a secret in it, and any other text as it is. A
// URL whose password and query are references to the environment has none in it.
func withoutSecrets(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	shown := secret.URL(text).String()
	if shown == text || !references.MatchString(text) {
		return shown
	}
	u, err := url.Parse(references.ReplaceAllString(text, ""))
	if err != nil || u.Fragment != "" || u.User != nil && strings.Trim(u.User.String(), ":") != "" {
		return shown
	}
	for _, values := range u.Query() {
		if strings.Join(values, "") != "" {
			return shown
		}
	}
	return text
}

// eachScalar visits the values of a document with the keys that lead to them. There are no
// aliases in it.
func eachScalar(n *yaml.Node, path keypath.Path, visit func(n *yaml.Node, path keypath.Path)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(n, path)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachScalar(n.Content[i+1], extend(path, keypath.Step{Key: n.Content[i].Value}), visit)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			eachScalar(item, extend(path, keypath.Step{Index: i, Item: true}), visit)
		}
	}
}

// keepSecrets puts secrets of a registered agent back into a draft of it, where their markers stand in
// their own places. They are put back only if the draft calls whom the agent calls now:
// whoever may register agents could otherwise have a secret sent to a host of their own, and
// learn what is never shown to them. kept is nil where nothing is registered.
//
// Errors have the places of the draft.
func keepSecrets(root *yaml.Node, kept []byte) []error {
	var used []keptSecret
	var nodes []*yaml.Node
	eachScalar(root, nil, func(n *yaml.Node, path keypath.Path) {
		if strings.Contains(n.Value, keptMark) {
			used, nodes = append(used, keptSecret{shown: n.Value, at: path}), append(nodes, n)
		}
	})
	if used == nil {
		return nil
	}
	before, secrets := &yaml.Node{Kind: yaml.MappingNode}, map[string]keptSecret{}
	if kept != nil {
		var err error
		if before, err = agentNode(kept); err != nil {
			return []error{err}
		}
		secrets, _ = conceal(before)
	}
	// What decides is compared as it is shown: a secret that is typed anew is another value.
	moved := decisiveChange(before, root)
	var errs []error
	values := make([]string, len(used))
	for i, u := range used {
		k, ok := secrets[u.at.String()]
		switch {
		case !ok || k.shown != u.shown:
			errs = append(errs, problemAt(draft, nodes[i], "%s: no secret is kept in this place under this marker: write the secret itself", u.at))
		case moved != "":
			errs = append(errs, problemAt(draft, nodes[i], "%s: %s has changed, which decides where calls go: write the secret anew, it is not sent to somebody else by a marker", u.at, moved))
		case !sameEntry(before, root, u.at):
			errs = append(errs, problemAt(draft, nodes[i], "%s: something else of %s has changed: write the secret anew", u.at, u.at[:min(2, len(u.at))]))
		}
		values[i] = k.value
	}
	if errs != nil {
		return errs
	}
	for i, n := range nodes {
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: values[i], Line: n.Line, Column: n.Column}
	}
	return nil
}

// undecisive are the keys of an agent that do not decide where its calls go. All others do, those
// that are added to agents later included, but for the credentials, which sameEntry compares.
var undecisive = [][]string{
	{"authorization"}, {"card", "form"}, {"card", "limits"}, {"card", "refresh"}, {"card", "requirements"}, {"card", "sign"},
	{"card", "visibility"}, {"connectTimeout"}, {"answerTimeout"}, {"connections"}, {"credentials"}, {"dedupe"}, {"extensions"},
	{"fileBytes"}, {"fileParts"}, {"headers"}, {"hosts"}, {"load", "affinity"}, {"load", "breaker"}, {"load", "connections"},
	{"load", "ejection"}, {"load", "health"}, {"load", "retry"}, {"load", "slowStart"}, {"load", "timeouts"}, {"match"}, {"modes"},
	{"repeatsNotifications"}, {"skills"},
}

// decisiveChange is a key that decides where calls go and is not the same in both; "" for none.
func decisiveChange(before, after *yaml.Node) string {
	a, b := decisive(before), decisive(after)
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if b[path] != a[path] {
			return path
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[path]; !ok {
			return path
		}
	}
	return ""
}

// decisive are the values that decide where calls go, by their paths.
func decisive(root *yaml.Node) map[string]string {
	all := map[string]string{}
	eachScalar(root, nil, func(n *yaml.Node, path keypath.Path) {
		if !slices.ContainsFunc(undecisive, func(of []string) bool { return below(path, of) }) {
			all[cardURL(path).String()] = n.Value
		}
	})
	return all
}

// cardURL is the path of a card's URL, which may stand alone in the place of the card.
func cardURL(path keypath.Path) keypath.Path {
	if len(path) == 1 && path[0].Key == "card" {
		return keypath.Of("card", "url")
	}
	return path
}

// below reports whether a path leads to or below some keys.
func below(path keypath.Path, keys []string) bool {
	if len(path) < len(keys) {
		return false
	}
	for i, key := range keys {
		if path[i].Key != key {
			return false
		}
	}
	return true
}

// sameEntry reports whether all of the credential that a secret is part of is the same in both:
// it may have a URL where the secret is sent, and a header for it. A secret elsewhere is no part
// of a credential.
func sameEntry(before, after *yaml.Node, at keypath.Path) bool {
	if len(at) < 2 || at[0].Key != "credentials" {
		return true
	}
	entry := func(root *yaml.Node) map[string]string {
		all := map[string]string{}
		eachScalar(find(root, at[:2]), nil, func(n *yaml.Node, path keypath.Path) { all[path.String()] = n.Value })
		return all
	}
	return maps.Equal(entry(before), entry(after))
}
