package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// The verdicts.
const (
	allowed = "allowed"
	denied  = "denied"  // by the rules
	refused = "refused" // for something else
)

// explanation is the answer, as `--output json` has it.
type explanation struct {
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`             // that decided, or default, credential, undeclared
	Reason  string `json:"reason,omitempty"` // of a verdict that is not allowed
	Error   string `json:"error,omitempty"`  // what the caller is told, by its reason in docs/errors.md

	MissingScopes []string `json:"missingScopes,omitempty"`
	StepUp        *signIn  `json:"stepUp,omitempty"`  // the sign-in that is missing
	Consent       []string `json:"consent,omitempty"` // asked for by the rules that allow, and found
	Visible       bool     `json:"visible"`           // the caller may learn that the agent exists
	Shadow        []string `json:"shadow,omitempty"`

	Agent  string `json:"agent"`
	Method string `json:"method"`
	Caller caller `json:"caller"`
	Skill  skill  `json:"skill"`

	Rules      []step        `json:"rules,omitempty"`      // in the order of the file; none where none was asked
	Extensions []ext.Account `json:"extensions,omitempty"` // none where the call does not get that far
	Call       *activation   `json:"activation,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
}

type skill struct {
	ID  string `json:"id,omitempty"`
	Why string `json:"why"`
}

// step is a policy.Step.
type step struct {
	Rule    string `json:"rule"`
	Effect  string `json:"effect"`
	Shadow  bool   `json:"shadow,omitempty"`
	Matches bool   `json:"matches"`
	Failed  string `json:"failed,omitempty"`
}

// activation is what becomes of the extensions that the call asks for.
type activation struct {
	Asked    []string `json:"asked,omitempty"`
	Sent     []string `json:"sent,omitempty"`
	Visible  []string `json:"visible,omitempty"`
	Injected []string `json:"injected,omitempty"`
	Provided []string `json:"provided,omitempty"`
	Required []string `json:"required,omitempty"`
	Refused  []string `json:"refused,omitempty"`
	Ignored  []string `json:"ignored,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	Shadow   []string `json:"shadow,omitempty"`
}

// print is the explanation for people, the answer first.
func (e *explanation) print(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s on %s by %s: %s\n\n", e.Method, e.Agent, e.Caller.String(), e.Verdict)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(key, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", key, value)
		}
	}
	line(map[bool]string{true: "denied by", false: "allowed by"}[e.Verdict == denied], e.decider())
	line("because", e.Reason)
	line("caller is told", e.Error)
	line("missing scopes", strings.Join(e.MissingScopes, " "))
	line("missing sign-in", e.StepUp.String())
	line("consented to", strings.Join(e.Consent, ", "))
	line("sees the agent", map[bool]string{true: "yes", false: "no"}[e.Visible])
	line("skill", strings.TrimPrefix(e.Skill.ID+": "+e.Skill.Why, ": "))
	line("in shadow", strings.Join(e.Shadow, ", "))
	_ = t.Flush()
	e.printRules(w)
	e.printExtensions(w)
	for i, note := range e.Notes {
		_, _ = fmt.Fprintf(w, "%snote: %s\n", map[bool]string{true: "\n"}[i == 0], note)
	}
}

// decider is the rule that decided, or what did in its place.
func (e *explanation) decider() string {
	switch e.Rule {
	case "default":
		return "policy.default: no rule that would decide matches"
	case "credential":
		return "the credential"
	case "undeclared":
		return "policy.skills.undeclared"
	}
	return fmt.Sprintf("rule %q", e.Rule)
}

func (e *explanation) printRules(w io.Writer) {
	if e.Rules == nil {
		return
	}
	_, _ = fmt.Fprint(w, "\nrules, in the order of the file:\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, s := range e.Rules {
		effect, says := s.Effect, "matches"
		if s.Shadow {
			effect += " (shadow)"
		}
		if !s.Matches {
			says = "does not match: " + s.Failed
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\n", s.Rule, effect, says)
	}
	_ = t.Flush()
}

func (e *explanation) printExtensions(w io.Writer) {
	if e.Call == nil {
		return
	}
	if e.Extensions != nil {
		_, _ = fmt.Fprint(w, "\nextensions in such a call:\n")
	}
	for _, a := range e.Extensions {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", a.URI, a.Standing)
		for _, why := range a.Why {
			_, _ = fmt.Fprintf(w, "    %s\n", why)
		}
	}
	asks := cmp.Or(strings.Join(e.Call.Asked, ", "), "none")
	_, _ = fmt.Fprintf(w, "\nthis call asks for %s:\n", asks)
	any := false
	for _, list := range []struct {
		what string
		uris []string
	}{
		{"missing, so that the call is refused", e.Call.Missing},
		{"sent to the agent", e.Call.Sent},
		{"of these, what answers may show", e.Call.Visible},
		{"of these, added by the gateway", e.Call.Injected},
		{"of these, required", e.Call.Required},
		{"done by the gateway", e.Call.Provided},
		{"left out, as not permitted", e.Call.Refused},
		{"left out, as the agent does not have it", e.Call.Ignored},
		{"without shadow modes", e.Call.Shadow},
	} {
		if list.uris != nil {
			any = true
			_, _ = fmt.Fprintf(w, "  %s: %s\n", list.what, strings.Join(list.uris, ", "))
		}
	}
	if !any {
		_, _ = fmt.Fprint(w, "  none is active\n")
	}
}
