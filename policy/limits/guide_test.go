package limits_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// The examples in docs/policy.md are configurations, its headers are what callers see,
// and its words are what they read.
func TestGuide(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, guide, found := strings.Cut(string(data), "\n## Rate limits and quotas\n")
	guide, _, _ = strings.Cut(guide, "\n## ")
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindAllStringSubmatch(guide, -1)
	if !found || len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	var first limits.Config
	for i, m := range examples {
		var file struct {
			Policy struct {
				Limits limits.Config `yaml:"limits"`
			} `yaml:"policy"`
		}
		if err := yaml.Load([]byte(m[1]), &file, yaml.WithKnownFields()); err != nil {
			t.Fatalf("%v\n%s", err, m[1])
		}
		if _, err := limits.New(file.Policy.Limits, limits.Options{Agents: agents()}); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
		if i == 0 {
			first = file.Policy.Limits
		}
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(9*time.Hour + 37*time.Minute) // after midnight, where bubbles begin
		l, err := limits.New(first, limits.Options{Agents: agents(), Store: memory(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		p, err := l.Admit(t.Context(), (&calls{t: t}).send())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release(t.Context())
		policy, limit := limits.Headers(p.Standings)
		if want := "```http\nRateLimit-Policy: " + policy + "\nRateLimit: " + limit + "\n```"; !strings.Contains(guide, want) {
			t.Errorf("the guide lacks\n%s", want)
		}
	})
	for _, figure := range []string{
		"rate: {units: 1, per: 1h}", "quota: {units: 1}", "concurrency: 1", "openTasks: 1", "bytes: 1B",
	} {
		what, _, _ := strings.Cut(figure, ":")
		status := "429"
		e := refused(t, figure)
		if e.Size {
			status = "413"
		}
		row := regexp.MustCompile("\n\\| `" + what + "` \\| " + status + " \\|([^|]*)\\| " + e.Reason + " \\|\n").FindStringSubmatch(guide)
		if row == nil || (strings.TrimSpace(row[1]) != "") != (e.After > 0) {
			t.Errorf("the guide has no row for %s: %s %q, %v", what, status, e.Reason, e.After)
		}
	}
}

// refused has a limit refuse a call.
func refused(t *testing.T, figure string) *limits.Exceeded {
	t.Helper()
	l, k := limiter(t, limits.Options{}, "{name: one, "+figure+"}"), &calls{t: t}
	for range 2 {
		p, err := l.Admit(t.Context(), with(k.send(), func(c *limits.Call) { c.Bytes = 2 }))
		defer p.Release(t.Context())
		var e *limits.Exceeded
		if errors.As(err, &e) {
			return e
		}
	}
	t.Fatalf("%s refuses nothing", figure)
	return nil
}
