package ext_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// world are the extensions of the property tests. Each may depend on later ones.
var world = []string{uriA, uriB, uriC, "urn:d"}

var noon = time.Date(2027, 3, 31, 12, 0, 0, 0, time.UTC)

func some(t *rapid.T, label string) []string {
	bits := rapid.IntRange(0, 15).Draw(t, label)
	// Mostly little: else everything contradicts everything.
	bits &= rapid.IntRange(0, 15).Draw(t, label+" mask")
	var uris []string
	for i, uri := range world {
		if bits>>i&1 == 1 {
			uris = append(uris, uri)
		}
	}
	return uris
}

func drawBook(t *rapid.T) *ext.Book {
	var r ext.Registry
	for i, uri := range world {
		e := ext.Entry{URI: uri, Status: rapid.SampledFrom([]ext.Status{
			"", "", ext.Allowed, ext.Deprecated, ext.Blocked,
		}).Draw(t, "status")}
		if e.Status == ext.Deprecated {
			e.Sunset = rapid.SampledFrom([]string{"", "2027-03-30", "2027-03-31"}).Draw(t, "sunset")
		}
		for _, dep := range some(t, "needs") {
			if slices.Index(world, dep) > i {
				e.Dependencies.Required = append(e.Dependencies.Required, dep)
			}
		}
		if rapid.Bool().Draw(t, "registered") {
			r = append(r, e)
		}
	}
	book, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func drawQuestion(t *rapid.T) *ext.Question {
	q := &ext.Question{
		Requested: rapid.Permutation(some(t, "requested")).Draw(t, "order"),
		Now:       noon,
		Config: &ext.Config{
			Require: some(t, "require"), Allow: some(t, "allow"), Deny: some(t, "deny"),
			Inject: some(t, "inject"), Provide: some(t, "provide"),
			Dependencies: rapid.SampledFrom([]string{"", "refuse", "close"}).Draw(t, "dependencies"),
			Mode:         rapid.SampledFrom([]string{"", "enforce", "shadow"}).Draw(t, "mode"),
		},
	}
	for _, uri := range some(t, "declared") {
		q.Declared = append(q.Declared, ext.Declared{URI: uri, Required: rapid.Bool().Draw(t, "marked")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		q.Rules = append(q.Rules, ext.Effect{
			Rule: "r", Shadow: rapid.Bool().Draw(t, "shadow"),
			Allow: some(t, "rule allows"), Deny: some(t, "rule denies"),
			Require: some(t, "rule requires"), Inject: some(t, "rule injects"),
		})
	}
	return q
}

// TestCardsTellWhatIsEnforced holds served cards against calls for any registry,
// configuration and rules.
func TestCardsTellWhatIsEnforced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if diff := cardDiffers(drawBook(t), drawQuestion(t)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestOutcomesAreSound holds what must be true of every outcome.
func TestOutcomesAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t), drawQuestion(t)
		out, err := book.Negotiate(q)
		if err != nil {
			return
		}
		active := slices.Concat(out.Send, out.Provided)
		for _, uri := range world {
			e, registered := book.Entry(uri)
			switch {
			case !active.Has(uri):
			case registered && (e.Status == ext.Blocked || e.Sunset == "2027-03-30"):
				t.Fatalf("blocked, and active: %q", uri)
			case q.Config.Mode != "shadow" && slices.Contains(q.Config.Deny, uri):
				t.Fatalf("denied, and active: %q", uri)
			case out.Refused.Has(uri):
				t.Fatalf("refused, and active: %q", uri)
			}
			for _, rule := range q.Rules {
				if active.Has(uri) && !rule.Shadow && slices.Contains(rule.Deny, uri) {
					t.Fatalf("denied by a rule, and active: %q", uri)
				}
			}
			if out.Visible.Has(uri) != (out.Send.Has(uri) && q.Requested.Has(uri)) ||
				out.Injected.Has(uri) != (out.Send.Has(uri) && !q.Requested.Has(uri)) {
				t.Fatalf("%q: of %q, %q are visible and %q injected", q.Requested, out.Send, out.Visible, out.Injected)
			}
		}
		for _, set := range []ext.Set{active, out.Refused, out.Required} {
			if sorted := slices.Sorted(slices.Values(set)); len(slices.Compact(sorted)) != len(set) {
				t.Fatalf("repeats: %q", set)
			}
		}
		if asked := slices.DeleteFunc(slices.Clone(out.Send), func(uri string) bool {
			return !q.Requested.Has(uri)
		}); !slices.IsSortedFunc(asked, func(a, b string) int {
			return slices.Index(q.Requested, a) - slices.Index(q.Requested, b)
		}) {
			t.Fatalf("asked for %q, sent %q", q.Requested, out.Send)
		}
	})
}

// TestShadowsTellWhatWouldHappen enforces what was shadowed, one at a time, and looks
// whether the records said so.
func TestShadowsTellWhatWouldHappen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t), drawQuestion(t)
		loose := *q
		var who string
		if len(q.Rules) > 0 && rapid.Bool().Draw(t, "of a rule") {
			who = "rule shadowed: "
			q.Rules[0].Rule, q.Rules[0].Shadow = "shadowed", true
			enforced := slices.Clone(q.Rules)
			enforced[0].Shadow = false
			loose, *q = *q, loose
			q.Rules = enforced
		} else {
			who = "extensions: "
			shadowed, enforced := *q.Config, *q.Config
			shadowed.Mode, enforced.Mode = "shadow", ""
			loose.Config, q.Config = &shadowed, &enforced
		}
		got, err := book.Negotiate(&loose)
		if err != nil {
			return
		}
		strict, err := book.Negotiate(q)
		said := func(verb string) (uris []string) {
			for _, line := range got.Shadow {
				if uri, ok := strings.CutPrefix(line, who+verb+" "); ok {
					uris = append(uris, uri)
				}
			}
			return uris
		}
		if diff := cmp.Diff(missingOf(err), said("require"), unordered...); diff != "" {
			t.Fatalf("require (-enforced +said):\n%s", diff)
		}
		if err != nil {
			return
		}
		was := slices.Concat(got.Send, got.Provided)
		is := slices.Concat(strict.Send, strict.Provided)
		lost := slices.DeleteFunc(was, func(uri string) bool { return slices.Contains(is, uri) })
		if diff := cmp.Diff([]string(lost), said("deny"), cmpopts.EquateEmpty(), unordered[0]); diff != "" {
			t.Fatalf("deny (-enforced +said):\n%s", diff)
		}
	})
}

// TestShadowsChangeNothing takes the shadow rules out.
func TestShadowsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t), drawQuestion(t)
		with, errWith := book.Negotiate(q)
		bare := *q
		bare.Rules = slices.DeleteFunc(slices.Clone(q.Rules), func(e ext.Effect) bool { return e.Shadow })
		without, errWithout := book.Negotiate(&bare)
		with.Shadow, without.Shadow = nil, nil
		if diff := diffOutcome(without, missingOf(errWithout), with, errWith); diff != "" {
			t.Fatal(diff)
		}
		if q.Config.Mode == "shadow" && len(bare.Rules) == 0 && errWith != nil {
			t.Fatalf("a shadow refused a call: %v", errWith)
		}
	})
}

// TestRulesSpeakLikeConfig moves what the agent's configuration says into a rule.
func TestRulesSpeakLikeConfig(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t), drawQuestion(t)
		q.Rules, q.Config.Mode, q.Config.Allow = nil, "", nil
		moved, config := *q, *q.Config
		moved.Rules = []ext.Effect{{Require: config.Require, Deny: config.Deny, Inject: config.Inject}}
		config.Require, config.Deny, config.Inject = nil, nil, nil
		moved.Config = &config
		want, err := book.Negotiate(q)
		got, errMoved := book.Negotiate(&moved)
		if diff := diffOutcome(want, missingOf(err), got, errMoved); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(book.Effective(q), book.Effective(&moved)); diff != "" {
			t.Fatal(diff)
		}
	})
}
