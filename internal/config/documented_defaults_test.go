package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// bareSections is a configuration that sets nothing which has a default: sections are there, with
// what they demand alone, so that the parser fills in the rest.
const bareSections = `
server: {publicURL: "https://agents.example.com", plaintext: true, limits: {}, timeouts: {}}
admin:
  publicURL: https://console.example.com
  oidc: {issuer: "https://login.example.com", audiences: [console], roles: {viewer: [all]}, login: {clientID: console}}
authn: {oidc: [{issuer: "https://login.example.com", audiences: [gateway], introspection: {clientID: a, clientSecret: b}}]}
policy: {rules: [{name: team, effect: allow}]}
state: {driver: redis, redis: {addresses: ["redis.example.com:6379"]}}
push: {}
streams: {}
telemetry: {audit: {}, anomalies: {}}
agents:
  - id: billing
    card: {url: "https://billing.internal.example.com/card", trust: {}, limits: {}}
    dedupe: {}
    load: {instances: [{dns: {name: billing.internal.example.com}}], health: {}, ejection: {}, breaker: {}, retry: {}}
`

// statement is what a page says of a default: `state.retention` (30d).
type statement struct{ page, key, value string }

// inParentheses is `key` (VALUE), which pages say for "VALUE unless the file says otherwise".
var inParentheses = regexp.MustCompile("`([a-z][A-Za-z.]*(?:\\[\\][A-Za-z.]*)?)` \\(([0-9.]+ ?[A-Za-z]*)(?: by default| unless set)?\\)")

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	sectionOf = regexp.MustCompile("key of `([^`]+)`")
	amount    = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?(?: ?(?:ms|[smhd]|days?|[KMG]iB))?)(?:$|[,;:)]| [^%])`)
)

// TestDocumentedDefaults compares what pages say of defaults with what the parser fills in, and
// with what the reference says where a package fills in its own later. A key may be said without
// the sections it is in: then one of the keys that end so has to have the default.
func TestDocumentedDefaults(t *testing.T) {
	t.Parallel()
	defaults, keys := defaultsByKey(t)
	compared := 0
	for _, s := range documentedDefaults(t) {
		if strings.Contains(s.key, ".") && !slices.ContainsFunc(keys, func(path string) bool { return endsIn(path, s.key) }) {
			t.Errorf("%s: `%s` is no key, and is said to be %s", s.page, s.key, s.value)
			continue
		}
		// Words in code type that are no keys of the file are somebody else's.
		values := lookUp(defaults, s.key)
		if len(values) == 0 {
			continue
		}
		compared++
		if !slices.Contains(values, measured(s.value)) {
			t.Errorf("%s says that `%s` is %s by default; it is %s", s.page, s.key, s.value, strings.Join(values, " or "))
		}
	}
	if compared < 50 {
		t.Errorf("only %d statements were compared: is the test looking in the right place?", compared)
	}
}

// documentedDefaults finds the statements of all pages: values in parentheses behind a key, and
// tables of keys with a column "default".
func documentedDefaults(t *testing.T) (all []statement) {
	t.Helper()
	for _, pattern := range []string{"../../docs/*.md", "../../docs/extensions/*.md", "../../docs/recipes/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pages {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := filepath.Base(path)
			for _, m := range inParentheses.FindAllStringSubmatch(string(text), -1) {
				all = append(all, statement{page, m[1], m[2]})
			}
			all = append(all, tabled(page, string(text))...)
		}
	}
	return all
}

// tabled are the rows of tables whose first column is of keys, and one of whose columns is
// "default". Defaults in words ("the system's") are left out.
func tabled(page, text string) (all []statement) {
	column, section, keys := -1, "", false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			column = -1
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ---") {
			column, keys, section = slices.Index(cells, "default"), strings.Contains(cells[0], "key"), ""
			if m := sectionOf.FindStringSubmatch(cells[0]); m != nil {
				section = m[1] + "."
			}
			continue
		}
		if column < 0 || !keys || column >= len(cells) {
			continue
		}
		named, values := codeSpan.FindAllStringSubmatch(cells[0], -1), strings.Split(cells[column], ", ")
		for n, m := range named {
			if n < len(values) && (len(named) == len(values) || len(named) == 1) {
				value := amount.FindStringSubmatch(strings.Trim(values[n], "`"))
				if value != nil && !strings.Contains(m[1], "*") {
					all = append(all, statement{page, section + m[1], value[1]})
				}
			}
		}
	}
	return all
}

// saidDefault is how the comment of a key says its default: "Default: 5s.", "; default 1000".
var saidDefault = regexp.MustCompile(`[Dd]efault:? ([0-9]+(?:\.[0-9]+)?(?: ?(?:ms|[smhd]|[KMG]iB))?)(?:[.,;:)]|$| (?:in|of)\b)`)

// defaultsByKey are the defaults by the path of their key, and all paths there are. What the
// parser fills in counts; where it leaves 0 to a package, what the key's comment says.
func defaultsByKey(t *testing.T) (defaults map[string]string, keys []string) {
	t.Helper()
	cfg, err := Parse("bare", []byte(bareSections), environment)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cfg.Show()
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	defaults = map[string]string{}
	flatten(tree, "", defaults)
	mappings, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mappings {
		for _, k := range m.Keys {
			path := strings.TrimPrefix(m.Key+"."+k.Name, ".")
			keys = append(keys, path)
			said := saidDefault.FindStringSubmatch(k.Text)
			if said == nil || k.With != "" {
				continue
			}
			if filled, ok := defaults[path]; ok && strings.Trim(filled, "0s") != "" && filled != measured(said[1]) {
				t.Errorf("%s: its comment says %s by default, and the parser has %s", path, said[1], filled)
			}
			defaults[path] = measured(said[1])
		}
	}
	maps.DeleteFunc(defaults, func(_, value string) bool { return strings.Trim(value, "0s") == "" })
	return defaults, keys
}

func flatten(node any, path string, into map[string]string) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			flatten(value, strings.TrimPrefix(path+"."+key, "."), into)
		}
	case []any:
		for _, item := range node {
			flatten(item, path+"[]", into)
		}
	case string:
		into[path] = measured(node)
	case float64:
		into[path] = measured(strconv.FormatFloat(node, 'f', -1, 64))
	}
}

// lookUp are the defaults of a key by its path, or by the end of it.
func lookUp(defaults map[string]string, key string) (values []string) {
	for path, value := range defaults {
		if endsIn(path, key) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// endsIn reports whether a path is a key, or ends in it, with or without the marks of lists.
func endsIn(path, key string) bool {
	bare := strings.ReplaceAll(path, "[]", "")
	key = strings.ReplaceAll(key, "[]", "")
	return bare == key || strings.HasSuffix(bare, "."+key)
}

// measured is a quantity in one spelling: 24 h, 24h and 1d are the same.
func measured(value string) string {
	value = strings.NewReplacer(" days", "d", " day", "d", " ", "").Replace(value)
	var d quantity.Duration
	if err := d.UnmarshalText([]byte(value)); err == nil && strings.Trim(value, "0123456789.") != "" {
		return d.Std().String()
	}
	var s quantity.Size
	if err := s.UnmarshalText([]byte(value)); err == nil {
		return strconv.FormatInt(int64(s), 10)
	}
	return value
}
