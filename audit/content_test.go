package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/redact"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestContentConfig(t *testing.T) {
	t.Parallel()
	rule := func(r ContentRule) Content { return Content{Rules: []ContentRule{{}, r}} }
	for want, c := range map[string]Content{
		"content.limit":                     {Limit: 5 << 20},
		"content.rules: 257":                {Rules: make([]ContentRule, 257)},
		"content.rules[1].capture":          rule(ContentRule{Capture: "all"}),
		"content.rules[1].label":            rule(ContentRule{Capture: "both", Label: "secret"}),
		"content.rules[1].path":             rule(ContentRule{Path: "a"}),
		"content.rules[1].equals":           rule(ContentRule{Equals: "a"}),
		"content.rules[1].retention":        rule(ContentRule{Retention: quantity.Duration(time.Minute)}),
		"content.rules[1].redact.detectors": rule(ContentRule{Redact: redact.Config{Detectors: []string{"x"}}}),
	} {
		if err := (Config{Content: c}).Check(); err == nil || !strings.Contains(err.Error(), "telemetry.audit."+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	own := Content{Labels: []string{"secret"}, Rules: []ContentRule{{Capture: "both", Label: "secret"}}}
	if err := (Config{Content: own}).Check(); err != nil {
		t.Error(err)
	}
}

func TestContentRule(t *testing.T) {
	t.Parallel()
	c := Content{Rules: []ContentRule{{
		Agents: []string{"bill*"}, Skills: []string{"pay"}, Path: "$.message.metadata.class", Equals: "open", Capture: "both", Label: "public",
	}}}
	rules, err := c.compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	const open = `{"message":{"metadata":{"class":"open"}}}`
	for _, tt := range []struct {
		agent, skill, params string
		want                 bool
	}{
		{"billing", "pay", open, true},
		{"weather", "pay", open, false},
		{"billing", "refund", open, false},
		{"billing", "pay", `{"message":{"metadata":{"class":"shut"}}}`, false},
		{"billing", "pay", "", false},
		{"billing", "pay", `{"message"`, false},
	} {
		if got := rules[0].concerns(tt.agent, tt.skill) && rules[0].fits([]byte(tt.params)); got != tt.want {
			t.Errorf("%v: %v", tt, got)
		}
	}
}
