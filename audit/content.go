package audit

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/redact"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Content is telemetry.audit.content: which bodies the gateway keeps, beside the records.
type Content struct {
	// Rules say what the gateway captures of calls to agents; the first rule that matches decides.
	// At most 256. Default none: no body is kept.
	Rules []ContentRule `yaml:"rules"`
	// Labels are the labels that rules may use. Default public, internal, confidential,
	// restricted.
	Labels []string `yaml:"labels"`
	// Limit is how much the gateway keeps of one body, or of a stream's events together. It cuts
	// the rest off. At most 4MiB. Default 64KiB.
	Limit quantity.Size `yaml:"limit"`
}

// ContentRule is an entry of Content.Rules. A key that is not set matches every call.
type ContentRule struct {
	// Agents are patterns of agent ids, with *.
	Agents []string `yaml:"agents"`
	// Skills are patterns of skill ids, with *.
	Skills []string `yaml:"skills"`
	// Path is a JSON path where the params of a matching request have something.
	Path string `yaml:"path"`
	// Equals is what the params have at Path. Default: anything.
	Equals string `yaml:"equals"`
	// Capture is none, request, response or both. Default none.
	Capture string `yaml:"capture" jsonschema:"enum=none,enum=request,enum=response,enum=both"`
	// Label says how sensitive the content is, one of Content.Labels. Required, unless Capture is
	// none.
	Label string `yaml:"label"`
	// Retention is how long the gateway keeps the content, to the end of the day, at least 1h.
	// Records have a retention of their own. Default 0: until it is erased.
	Retention quantity.Duration `yaml:"retention" zero:"kept"`
	// Redact says what the gateway removes before it keeps the content.
	Redact redact.Config `yaml:"redact"`
}

// Values of ContentRule.Capture.
const (
	captureNone     = "none"
	captureRequest  = "request"
	captureResponse = "response"
	captureBoth     = "both"
)

const (
	defaultContentLimit = 64 << 10
	maxContentLimit     = 4 << 20
	maxContentRules     = 256
)

// limit is Limit or its default.
func (c Content) limit() int {
	if c.Limit == 0 {
		return defaultContentLimit
	}
	return int(c.Limit)
}

// labels are Labels or their default. An empty list is one: then nothing can be captured, as every rule
// that captures names a label.
func (c Content) labels() []string {
	if c.Labels == nil {
		return []string{"public", "internal", "confidential", "restricted"}
	}
	return c.Labels
}

// contentRule is a rule that is ready.
type contentRule struct {
	ContentRule
	path     redact.Path
	redactor *redact.Redactor
}

// compile checks the rules. key is for digests of what is hashed.
func (c Content) compile(key []byte) ([]contentRule, error) {
	var errs []error
	if c.Limit < 0 || c.Limit > maxContentLimit {
		errs = append(errs, keypath.At(fmt.Errorf("%v is not between 1 and 4MiB", c.Limit), "telemetry", "audit", "content", "limit"))
	}
	if len(c.Rules) > maxContentRules {
		errs = append(errs, keypath.At(fmt.Errorf("%d are more than %d", len(c.Rules), maxContentRules), "telemetry", "audit", "content", "rules"))
	}
	rules := make([]contentRule, 0, len(c.Rules))
	for i, rule := range c.Rules {
		r, err := rule.compile(c.labels(), key)
		if err != nil {
			errs = append(errs, keypath.At(err, "telemetry", "audit", "content", "rules", i))
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(errs...)
}

// compile checks a rule and makes it ready, with the key that hashed values are made with.
func (c ContentRule) compile(labels []string, key []byte) (contentRule, error) {
	r := contentRule{ContentRule: c}
	var errs []error
	switch c.Capture {
	case "", captureNone:
	case captureRequest, captureResponse, captureBoth:
		if !slices.Contains(labels, c.Label) {
			errs = append(errs, keypath.At(fmt.Errorf("%q is none of %q", c.Label, labels), "label"))
		}
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is none of none, request, response and both", c.Capture), "capture"))
	}
	if d := c.Retention.Std(); d != 0 && d < time.Hour {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 1h", c.Retention), "retention"))
	}
	var err error
	switch {
	case c.Path != "":
		if r.path, err = redact.ParsePath(c.Path); err != nil {
			errs = append(errs, keypath.At(err, "path"))
		}
	case c.Equals != "":
		errs = append(errs, keypath.At(errors.New("is of what there is at path, which is empty"), "equals"))
	}
	if r.redactor, err = redact.New(c.Redact, key); err != nil {
		errs = append(errs, keypath.At(err, "redact"))
	}
	return r, errors.Join(errs...)
}

// concerns reports whether a rule is about calls of a skill of an agent.
// Both patterns must fit; a rule without patterns fits every call.
func (r *contentRule) concerns(agent, skill string) bool {
	return pattern.Any(r.Agents, agent) && pattern.Any(r.Skills, skill)
}

// fits reports whether the params of a call are what a rule that concerns it wants them to be.
func (r *contentRule) fits(params []byte) bool {
	if r.Path == "" {
		return true
	}
	found := false
	r.path.Find(params, func(value string) bool {
		found = r.Equals == "" || r.Equals == value
		return !found
	})
	return found
}

// takes reports whether a rule captures requests, or responses.
func (r *contentRule) takes(what string) bool { return r.Capture == what || r.Capture == captureBoth }
