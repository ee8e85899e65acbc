package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

const (
	rulesFile = "../../deploy/prometheus/rules.yml"
	casesFile = "../../deploy/prometheus/alerts_test.yml"
)

// expression is PromQL that somebody is given, and where.
type expression struct{ where, text string }

type ruleFile struct {
	Groups []struct {
		Rules []struct{ Record, Alert, Expr string }
	}
}

func readRules(t *testing.T) ruleFile {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var f ruleFile
	if err := yaml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// expressions are those of the rules and the dashboards.
func expressions(t *testing.T) (all []expression, records []string) {
	t.Helper()
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			all = append(all, expression{r.Record + r.Alert, r.Expr})
			if r.Record != "" {
				records = append(records, r.Record)
			}
		}
	}
	files, err := filepath.Glob("../../deploy/grafana/*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d dashboards: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var board any
		if err := json.Unmarshal(text, &board); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, within(filepath.Base(name), board)...)
	}
	return all, records
}

// within finds the expressions in a dashboard.
func within(where string, v any) (all []expression) {
	switch v := v.(type) {
	case map[string]any:
		if title, ok := v["title"].(string); ok {
			where += ": " + title
		}
		for key, inner := range v {
			if text, ok := inner.(string); ok && (key == "expr" || key == "query" && strings.Contains(text, prefix)) {
				all = append(all, expression{where, text})
				continue
			}
			all = append(all, within(where, inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, within(where, inner)...)
		}
	}
	return all
}

var (
	selected = regexp.MustCompile(`([a-z_:0-9]*a2a_gateway_[a-z_:0-9]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	grouping = regexp.MustCompile(`(?:by|on)\s*\(([^)]*)\)`)
)

// TestDeployNamesWhatExists: every metric, every label and every value of a label that a
// rule or a dashboard names is one of an instrument's.
func TestDeployNamesWhatExists(t *testing.T) {
	t.Parallel()
	made := map[string][]label{}
	for _, i := range instruments() {
		made[i.name] = i.labels
		if i.kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				made[i.name+suffix] = i.labels
			}
		}
	}
	all, records := expressions(t)
	used := 0
	for _, e := range all {
		var labels []string
		for _, m := range selected.FindAllStringSubmatch(e.text, -1) {
			used++
			if slices.Contains(records, m[1]) {
				labels = append(labels, "agent", "method")
				continue
			}
			own, ok := made[m[1]]
			if !ok {
				t.Errorf("%s: there is no %s", e.where, m[1])
			}
			for _, l := range own {
				labels = append(labels, l.name)
			}
			wrongMatchers(t, e, own, m[2])
		}
		labels = append(labels, "instance", "job", "namespace", "service", "le", "configuration")
		for _, g := range grouping.FindAllStringSubmatch(e.text, -1) {
			for name := range strings.SplitSeq(g[1], ",") {
				if name = strings.TrimSpace(name); !slices.Contains(labels, name) {
					t.Errorf("%s: groups by %s, which nothing in it has: %s", e.where, name, e.text)
				}
			}
		}
	}
	if used < 100 {
		t.Errorf("only %d uses of metrics were found", used)
	}
}

// wrongMatchers reports matchers of labels that a metric does not have, or of values that
// they cannot have.
func wrongMatchers(t *testing.T, e expression, own []label, matchers string) {
	t.Helper()
	for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
		if m[1] == "instance" || m[1] == "job" || m[1] == "le" {
			continue
		}
		i := slices.IndexFunc(own, func(l label) bool { return l.name == m[1] })
		if i < 0 {
			t.Errorf("%s: no label %s in %s", e.where, m[1], e.text)
			continue
		}
		for value := range strings.SplitSeq(m[3], "|") {
			if own[i].from == "" && !strings.HasPrefix(value, "$") && !slices.Contains(own[i].values, value) {
				t.Errorf("%s: %s is never %q", e.where, m[1], value)
			}
		}
	}
}

// TestPagesNameWhatExists: every metric that a page names is one that is made. The changelog
// may name those of earlier versions.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	made := map[string]bool{}
	for _, i := range instruments() {
		made[i.name] = true
		if i.kind == "histogram" {
			made[i.name+"_bucket"], made[i.name+"_count"], made[i.name+"_sum"] = true, true, true
		}
	}
	named := 0
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/*/*.md", "../../deploy/*.md", "../../deploy/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`\ba2a_gateway_[a-z0-9_]+`).FindAllString(string(text), -1) {
				if named++; !made[name] {
					t.Errorf("%s: there is no %s", page, name)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d names of metrics were found", named)
	}
}

// TestEveryAlertHasACase: in which it fires, and one in which it does not.
func TestEveryAlertHasACase(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range cases.Tests {
		for _, c := range test.AlertRuleTest {
			if len(c.ExpAlerts) > 0 {
				fires[c.Alertname] = true
			} else {
				quiet[c.Alertname] = true
			}
		}
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if r.Alert != "" && (!fires[r.Alert] || !quiet[r.Alert]) {
				t.Errorf("%s: fires in a case: %v, does not in another: %v", r.Alert, fires[r.Alert], quiet[r.Alert])
			}
		}
	}
}

// promtool runs Prometheus' own checker.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		testenv.Missing(t, "promtool is not installed (it comes with prometheus)")
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

// TestRules has promtool check the rules and their cases, and what dashboards ask as if
// they were rules.
func TestRules(t *testing.T) {
	testenv.Long(t, "promtool evaluates every alert")
	t.Parallel()
	promtool(t, "check", "rules", rulesFile)
	promtool(t, "test", "rules", casesFile)
	all, _ := expressions(t)
	var b strings.Builder
	b.WriteString("groups:\n- name: dashboards\n  rules:\n")
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$agent", ".*")
	for i, e := range all {
		if strings.HasPrefix(e.text, "label_values(") { // Grafana's own
			continue
		}
		fmt.Fprintf(&b, "  - {record: 'dashboard:%d', expr: %q}\n", i, variables.Replace(e.text))
	}
	file := filepath.Join(t.TempDir(), "dashboards.yml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}
