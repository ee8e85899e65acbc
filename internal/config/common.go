package config

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/audit/sink"
)

// own are the keys of a gateway alone: replicas of one configuration may have each their own.
// Files with rules and agents count by what is in them. Where there are several sites each has
// its HTTP proxy. Sinks of audit records have such keys as well, by their registration (sink.Own).
// A star is any entry of a list.
var own = [][]string{
	{"server", "id"}, {"server", "address"}, {"server", "statusAddress"}, {"server", "statusHosts"}, {"server", "dataDir"},
	{"server", "h2c"}, // where it is not said, it follows from the address
	{"admin", "address"}, {"keys", "dir"}, {"state", "sqlite", "path"}, {"telemetry", "audit", "dir"},
	{"egress"}, {"agents", "*", "egress"}, {"policy", "files"}, {"fleet", "files"},
}

// commonSum is a SHA-256 of what gateways have to have in common to decide alike: what is in
// force, with references replaced and defaults filled in, without what is each gateway's own,
// the places of files among it. Secrets are not in it, since sums are public. root is the
// configuration, and is used up.
//
// It is a metric, and the console shows it for each replica: two gateways with other rules decide
// the same call differently, by whichever the load balancer picks.
func (c *Config) commonSum(root *yaml.Node) [32]byte {
	for _, path := range own {
		dropAt(root, path)
	}
	for _, path := range sink.Own() {
		dropAt(root, append([]string{"telemetry", "audit", "sinks", "*"}, path...))
	}
	places := map[string]bool{}
	readPaths(c, func(path *string) {
		if *path != "" {
			places[*path] = true
		}
	})
	hideURLs(root)
	var b strings.Builder
	sum(&b, root, places)
	return sha256.Sum256([]byte(b.String()))
}

// dropAt takes out what is at a path; what is not there needs no taking out.
func dropAt(n *yaml.Node, path []string) {
	switch {
	case n == nil:
	case len(path) == 1:
		drop(n, path[0])
	case path[0] == "*":
		for _, entry := range n.Content {
			dropAt(entry, path[1:])
		}
	default:
		dropAt(child(n, path[0]), path[1:])
	}
}

// drop takes a key out of a mapping.
// The slice is cut to its length first, so that append copies: nodes may be shared by aliases.
func drop(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			return
		}
	}
}

// sum writes each node so that no two trees are written alike: the length before a value keeps two
// neighbours from reading as one. A file is one wherever it lies: replicas may have it in different
// directories.
func sum(b *strings.Builder, n *yaml.Node, places map[string]bool) {
	value := n.Value
	if n.Kind == yaml.ScalarNode && places[value] {
		value = "a file"
	}
	_, _ = fmt.Fprintf(b, "%d %d %d:%s\n", n.Kind, len(n.Content), len(value), value)
	for _, part := range n.Content {
		sum(b, part, places)
	}
}
