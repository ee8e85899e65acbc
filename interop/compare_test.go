package interop_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	uuids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
	refusals = regexp.MustCompile(`: error .*`)
)

// names maps ids to their order of first appearance: what differs between two
// runs that are the same.
type names map[string]string

// rewrite gives the lines of an outcome; with plain, errors without their kind.
func (n names) rewrite(o outcome, plain bool) []string {
	var out []string
	for _, line := range o.Lines {
		line = times.ReplaceAllString(line, "<time>")
		line = uuids.ReplaceAllStringFunc(line, func(id string) string {
			if _, ok := n[id]; !ok {
				n[id] = fmt.Sprintf("<id%d>", len(n)+1)
			}
			return n[id]
		})
		if plain {
			line = refusals.ReplaceAllString(line, ": error")
		}
		// How often a task that ticks says so is a matter of luck.
		if !o.Ticks || !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// difference is an operation that went another way than it should.
type difference struct {
	operation string
	want, got []string
}

// String writes it for a log.
func (d difference) String() string {
	return fmt.Sprintf("%s differs\nwant:\n%s\ngot:\n%s", d.operation, strings.Join(d.want, "\n"), strings.Join(d.got, "\n"))
}

// gist leaves out of the lines what 0.1 has no words for: the ids of messages and
// artifacts, and which task and context they belong to.
func gist(o outcome) outcome {
	lines := make([]string, 0, len(o.Lines))
	for _, line := range o.Lines {
		what, text, _ := strings.Cut(line, ": ")
		var value any
		if err := json.Unmarshal([]byte(text), &value); err == nil {
			text = string(sorted(without(value)))
		}
		lines = append(lines, what+": "+text)
	}
	o.Lines = lines
	return o
}

func gists(all []outcome) []outcome {
	out := make([]outcome, len(all))
	for i, o := range all {
		out[i] = gist(o)
	}
	return out
}

var unknownTo01 = []string{"messageId", "artifactId", "taskId", "contextId"}

// without gives a document without those members, wherever they are.
func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(name string, _ any) bool { return slices.Contains(unknownTo01, name) })
		for name := range v {
			v[name] = without(v[name])
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return value
}

func sorted(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// compare gives the operations that differ; of those that are onlyRefused no more
// is compared than that they were.
func compare(want, got []outcome, onlyRefused func(operation string) bool) []difference {
	var found []difference
	for _, o := range want {
		i := slices.IndexFunc(got, func(g outcome) bool { return g.Operation == o.Operation })
		if i < 0 {
			found = append(found, difference{o.Operation, o.Lines, nil})
			continue
		}
		plain := onlyRefused(o.Operation)
		a, b := names{}.rewrite(o, plain), names{}.rewrite(got[i], plain)
		if !slices.Equal(toldMore(a, b), b) {
			found = append(found, difference{o.Operation, a, b})
		}
	}
	return found
}

// toldMore is want with the errors that the client could name only in what it
// got: some agents' errors have a shape from which it cannot tell.
func toldMore(want, got []string) []string {
	want = slices.Clone(want)
	for i, line := range want {
		if i < len(got) && strings.HasSuffix(line, ": error") && strings.HasPrefix(got[i], line) {
			want[i] = got[i]
		}
	}
	return want
}
