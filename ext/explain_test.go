package ext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// TestExplainAgrees holds accounts against what is enforced, for any registry,
// configuration and rules.
func TestExplainAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t), drawQuestion(t)
		q.Requested = world // so that there is an account of each
		listed := make(map[string]ext.Declared)
		for _, d := range book.Effective(q) {
			listed[d.URI] = d
		}
		nothing := *q
		nothing.Requested = nil
		out, err := book.Negotiate(&nothing)
		missing := missingOf(err)
		all, err := book.Negotiate(q)
		for _, a := range book.Explain(q) {
			d, is := listed[a.URI]
			var wrong bool
			switch a.Standing {
			case "required":
				wrong = !d.Required || !slices.Contains(missing, a.URI)
			case "injected":
				wrong = !is || d.Required || missing == nil && !out.Injected.Has(a.URI) && !out.Provided.Has(a.URI)
			case "provided":
				wrong = !is || d.Required || err == nil && !all.Provided.Has(a.URI)
			case "offered":
				wrong = !is || d.Required || err == nil && !all.Send.Has(a.URI)
			case "denied":
				wrong = is || !speaks(a.Why, "deny", "denies", "others only", "blocks it")
			case "absent":
				wrong = is || err == nil && all.Refused.Has(a.URI) || !speaks(a.Why, "does not have", "offers it")
			default:
				wrong = true
			}
			if wrong {
				t.Fatalf("%+v, but the card says %+v (%v), nobody's call %+v (%q missing), everybody's %+v (%v)",
					a, d, is, out, missing, all, err)
			}
		}
	})
}

// speaks reports whether a reason has one of the words.
func speaks(why []string, words ...string) bool {
	return slices.ContainsFunc(why, func(reason string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(reason, word) })
	})
}

func TestExplain(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{
		{URI: uriA, Dependencies: ext.Dependencies{Required: []string{uriB}}},
		{URI: uriC, Status: ext.Deprecated, Sunset: "2027-03-30", Replacement: uriA},
		{URI: "urn:blocked", Status: ext.Blocked, Replacement: uriA},
		{URI: "urn:old", Status: ext.Deprecated, Replacement: uriA},
	})
	got := book.Explain(&ext.Question{
		Requested: ext.Set{"urn:unheard-of", "urn:blocked"},
		Declared:  []ext.Declared{{URI: uriA}, {URI: uriC, Required: true}, {URI: "urn:old"}, {URI: "urn:timestamp"}},
		Config:    &ext.Config{Require: []string{"urn:consent"}, Provide: []string{"urn:timestamp"}, Deny: []string{"urn:old"}},
		Rules: []ext.Effect{
			{Rule: "finance", Inject: []string{"urn:trace"}},
			{Rule: "trial", Shadow: true, Require: []string{"urn:trace"}},
		},
		Now: noon,
	})
	want := []ext.Account{
		{uriA, "absent", []string{
			"card: declares it", `registry: it needs "` + uriB + `", which this agent does not have or may not use`,
			"registry: allowed, profile",
		}},
		{uriC, "denied", []string{"card: declares it, as required", "registry: blocks it since 2027-03-30 is over; use " + uriA}},
		{"urn:old", "denied", []string{
			"card: declares it", "agents[].extensions.deny: lists it", "registry: profile. Deprecated: use " + uriA + ".",
		}},
		{"urn:timestamp", "offered", []string{
			"card: declares it", "agents[].extensions.provide: lists it",
			"the agent has it itself, so that the gateway does not provide it", "registry: does not know it",
		}},
		{"urn:consent", "required", []string{"agents[].extensions.require: lists it", "registry: does not know it"}},
		{"urn:trace", "injected", []string{
			`rule "finance": injects it`, `rule "trial": requires it (shadow: only recorded)`, "registry: does not know it",
		}},
		{"urn:unheard-of", "absent", []string{
			"neither the card nor the configuration offers it", "registry: does not know it",
		}},
		{"urn:blocked", "denied", []string{
			"neither the card nor the configuration offers it", "registry: blocks it; use " + uriA,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
