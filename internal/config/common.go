package config

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
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
// the places of files among it. Secrets are not in it, since sums are public.
//
// It is a metric, and the console shows it for each replica: two gateways with other rules decide
// the same call differently, by whichever the load balancer picks.
func (c *Config) commonSum() [32]byte {
	s := commonSum{to: bufio.NewWriter(nil), files: map[string]bool{}}
	readPaths(c, func(path *string) {
		if *path != "" {
			s.files[*path] = true
		}
	})
	without := slices.Clone(own)
	for _, path := range sink.Own() {
		without = append(without, append([]string{"telemetry", "audit", "sinks", "*"}, path...))
	}
	sum := sha256.New()
	s.to.Reset(sum)
	s.add(inForce(reflect.ValueOf(c)), without)
	_ = s.to.Flush() // a hash takes everything
	return [32]byte(sum.Sum(nil))
}

// commonSum writes each setting so that no two configurations are written alike: the length before a
// value keeps two neighbours from reading as one.
type commonSum struct {
	to *bufio.Writer
	// files are the places of those that are read: a file is one wherever it lies, and replicas may have it
	// in different directories.
	files map[string]bool
}

// add adds a setting without what is at some paths, which begin at it.
func (s *commonSum) add(in setting, without [][]string) {
	if value, ok := in.text(); ok {
		s.addText(value)
		return
	}
	_ = s.to.WriteByte('{')
	in.each(func(step keypath.Step, of setting) {
		name := step.Key
		if step.Item {
			name = "*"
		}
		var deeper [][]string
		for _, path := range without {
			switch {
			case path[0] != name:
			case len(path) == 1:
				return
			default:
				deeper = append(deeper, path[1:])
			}
		}
		s.addText(name)
		s.add(of, deeper)
	})
	_ = s.to.WriteByte('}')
}

// addText adds a name or a value. Of URLs, what may be a secret is left out: in keys of any type, since a
// password in the wrong place is still one.
func (s *commonSum) addText(value string) {
	switch {
	case s.files[value]:
		value = "a file"
	case strings.Contains(value, "://"):
		value = secret.URL(value).String()
	}
	_, _ = fmt.Fprintf(s.to, "%d:", len(value))
	_, _ = s.to.WriteString(value)
}
