package policycmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// printExplanation is one for people, the answer first.
//
//	SendMessage on billing by alice@https://idp.example: denied
//
//	because         no rule allows skill "refund"; rule "refunds" would, but for scopes
//	missing scopes  refund
//
// Lines without a value are left out, and so are sections without entries. Errors of the writer
// are not looked at: it is standard output, and verb.Show has nothing to do about them.
func printExplanation(w io.Writer, e *verdict.Explanation) {
	_, _ = fmt.Fprintf(w, "%s on %s by %s: %s\n\n", e.Method, e.Agent, e.Caller.String(), e.Verdict)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	// The tab ends a cell of the table, which aligns the values.
	line := func(key, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", key, value)
		}
	}
	line(decidedBy(e), decider(e))
	line("because", e.Reason)
	line("caller is told", e.Error)
	// What the caller can do about it comes right behind the reason.
	line("missing scopes", strings.Join(e.MissingScopes, " "))
	line("missing sign-in", e.StepUp.String())
	line("consented to", strings.Join(e.Consent, ", "))
	for _, a := range e.Approvals {
		line("waits for", a.Asks)
	}
	line("allowed for", strings.Join(e.Skills, ", "))
	line("sees the agent", map[bool]string{true: "yes", false: "no"}[e.Visible])
	line("skill", strings.TrimPrefix(e.Skill.ID+": "+e.Skill.Why, ": "))
	line("call", e.Call.String())
	line("shared by", e.Sharing)
	line("in shadow", strings.Join(e.Shadow, ", "))
	for _, fault := range e.Faults {
		line("fault", fault)
	}
	for _, odd := range e.Modes {
		line("media type", odd)
	}
	for i := range e.Files {
		line("file", e.Files[i].String())
	}
	for i := range e.Findings {
		line("found", e.Findings[i].String())
	}
	// The table ends here: sections below have columns of their own.
	_ = t.Flush()
	printRules(w, e)
	printLimits(w, e)
	printAuthorizers(w, e)
	if e.Guards != nil {
		_, _ = fmt.Fprintf(w, "\nguards: %s\n", strings.Join(e.Guards, ", "))
	}
	printExtensions(w, e)
	// Notes come last, behind everything that they may limit.
	for i, note := range e.Notes {
		_, _ = fmt.Fprintf(w, "%snote: %s\n", map[bool]string{true: "\n"}[i == 0], note)
	}
}

// decidedBy is the key of the line that names the decider. A rule by which calls wait allows nothing itself.
func decidedBy(e *verdict.Explanation) string {
	switch {
	case e.Verdict == verdict.Denied:
		return "denied by"
	case e.Approvals != nil:
		return "waits by"
	}
	return "allowed by"
}

// decider is the rule that decided, or what did in its place.
// Rules cannot have the reserved names, so that none is mistaken for what stands in its place.
func decider(e *verdict.Explanation) string {
	switch e.Rule {
	case "default":
		return "policy.default: no rule that would decide matches"
	case "credential":
		return "the credential"
	case "undeclared":
		return "policy.skills.undeclared"
	case "skill-scopes":
		return "policy.skills.scopes"
	}
	return fmt.Sprintf("rule %q", e.Rule)
}

// printRules lists what each rule said. Nil is a call that was refused before any rule was asked.
func printRules(w io.Writer, e *verdict.Explanation) {
	if e.Rules == nil {
		return
	}
	_, _ = fmt.Fprint(w, "\nrules, in the order of the file:\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, s := range e.Rules {
		effect := s.Effect
		// A shadow rule decides nothing: the word stands beside its effect, so that nobody reads
		// it as if it did.
		if s.Shadow {
			effect += " (shadow)"
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\n", s.Rule, effect, says(&s))
	}
	_ = t.Flush()
}

// says is what came of a rule, in words.
// Failed is the key of the first condition that does not hold, as groups or content.mediaTypes.
func says(s *verdict.Step) string {
	switch {
	case !s.Matches:
		return "does not match: " + s.Failed
	case s.Skills != nil:
		return "matches for " + strings.Join(s.Skills, ", ")
	}
	return "matches"
}

// printExtensions tells first of each extension that the agent or a rule speaks of, what it is to
// such a call and why, and then which of those that this call asks for are active.
func printExtensions(w io.Writer, e *verdict.Explanation) {
	// Nil is a call that was refused before extensions were looked at.
	if e.Activation == nil {
		return
	}
	if len(e.Extensions) > 0 {
		_, _ = fmt.Fprint(w, "\nextensions in such a call:\n")
	}
	for _, a := range e.Extensions {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", a.URI, a.Standing)
		for _, why := range a.Why {
			_, _ = fmt.Fprintf(w, "    %s\n", why)
		}
	}
	asks := cmp.Or(strings.Join(e.Activation.Asked, ", "), "none")
	_, _ = fmt.Fprintf(w, "\nthis call asks for %s:\n", asks)
	// Sent, visible, injected and required overlap: the lines after the first say what else is
	// true of it.
	any := false
	for _, list := range []struct {
		what string
		uris []string
	}{
		{"missing, so that the call is refused", e.Activation.Missing},
		{"sent to the agent", e.Activation.Sent},
		{"of these, what answers may show", e.Activation.Visible},
		{"of these, added by the gateway", e.Activation.Injected},
		{"of these, required", e.Activation.Required},
		{"done by the gateway", e.Activation.Provided},
		{"left out, as not permitted", e.Activation.Refused},
		{"left out, as the agent does not have it", e.Activation.Ignored},
		{"without shadow modes", e.Activation.Shadow},
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

// printLimits shows what a limit allows and what it counts by; how full it is depends on other
// calls.
func printLimits(w io.Writer, e *verdict.Explanation) {
	if e.Limits == nil {
		return
	}
	_, _ = fmt.Fprint(w, "\nlimits that apply:\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, b := range e.Limits {
		name := b.Limit
		if b.Shadow {
			name += " (shadow)"
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\n", name, figures(&b), cmp.Or(b.Key, "for all together"))
	}
	_ = t.Flush()
}

// figures says how much there is.
// As in "requests 100 in 1m, at once 20, this call takes 5". The burst is left out where it says
// nothing that the number of units does not.
func figures(b *verdict.Allowance) string {
	text := fmt.Sprintf("%s %d", b.What, b.Units)
	if b.Window != "" {
		text += " in " + b.Window
	}
	if b.Burst > 0 && b.Burst != b.Units {
		text += fmt.Sprintf(", at once %d", b.Burst)
	}
	if b.Cost != nil && *b.Cost != 1 {
		text += fmt.Sprintf(", this call takes %d", *b.Cost)
	}
	return text
}

// printAuthorizers names the authorizers that the call concerns, and with --ask what they noted.
func printAuthorizers(w io.Writer, e *verdict.Explanation) {
	if e.Authorizers == nil {
		return
	}
	// Whether they were asked decides what their list means.
	what := "authorizers that would be asked"
	if e.Asked != nil {
		what = "authorizers that were asked"
	}
	_, _ = fmt.Fprintf(w, "\n%s: %s\n", what, strings.Join(e.Authorizers, ", "))
	if e.Asked != nil {
		for _, note := range e.Asked.Notes {
			_, _ = fmt.Fprintf(w, "  %s\n", note)
		}
	}
}
