package ext_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// TestNegotiate shows what the matrix does not: order, rules, and three extensions
// that need each other.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	const d = "urn:d"
	chain := ext.Registry{
		{URI: uriA, Dependencies: ext.Dependencies{Required: []string{uriB}}},
		{URI: uriB, Dependencies: ext.Dependencies{Required: []string{uriC}, Optional: []string{d}}},
	}
	all := []ext.Declared{{URI: uriC}, {URI: uriB}, {URI: uriA}, {URI: d}}
	tests := []struct {
		name     string
		registry ext.Registry
		q        ext.Question
		want     ext.Outcome
		missing  []string
	}{
		{
			name: "the client's order",
			q:    ext.Question{Requested: ext.Set{uriA, "urn:x", uriC, uriB}, Declared: all},
			want: ext.Outcome{Send: ext.Set{uriA, uriC, uriB}, Visible: ext.Set{uriA, uriC, uriB}},
		},
		{
			name: "refused for all that the chain needs", registry: chain,
			q:       ext.Question{Requested: ext.Set{uriA}, Declared: all},
			missing: []string{uriB, uriC},
		},
		{
			name: "closed behind what needs it", registry: chain,
			q: ext.Question{
				Requested: ext.Set{d, uriA}, Declared: all, Config: &ext.Config{Dependencies: "close"},
			},
			want: ext.Outcome{
				Send: ext.Set{d, uriA, uriB, uriC}, Visible: ext.Set{d, uriA}, Injected: ext.Set{uriB, uriC},
			},
		},
		{
			name: "the end of the chain is missing on the agent", registry: chain,
			q:    ext.Question{Requested: ext.Set{uriA, uriB, d}, Declared: all[1:]},
			want: ext.Outcome{Send: ext.Set{d}, Visible: ext.Set{d}},
		},
		{
			name: "but required", registry: chain,
			q: ext.Question{
				Requested: ext.Set{uriA}, Declared: all[2:], Config: &ext.Config{Require: []string{uriA}},
			},
			want: ext.Outcome{Send: ext.Set{uriA}, Visible: ext.Set{uriA}, Required: ext.Set{uriA}},
		},
		{
			name: "what a required one needs is required", registry: chain,
			q: ext.Question{
				Requested: ext.Set{uriC}, Declared: all, Config: &ext.Config{Require: []string{uriA}},
			},
			missing: []string{uriA, uriB},
		},
		{
			name: "nobody can ask for what an injected one needs", registry: chain,
			q: ext.Question{Declared: all, Config: &ext.Config{Inject: []string{uriA}}},
			want: ext.Outcome{
				Send: ext.Set{uriA, uriB, uriC}, Injected: ext.Set{uriA, uriB, uriC},
			},
		},
		{
			name: "required, and provided by the gateway",
			q: ext.Question{
				Requested: ext.Set{uriA}, Config: &ext.Config{Require: []string{uriA}, Provide: []string{uriA}},
			},
			want: ext.Outcome{Provided: ext.Set{uriA}},
		},
		{
			name: "the agent has it itself",
			q: ext.Question{
				Requested: ext.Set{uriA}, Declared: all, Config: &ext.Config{Provide: []string{uriA}},
			},
			want: ext.Outcome{Send: ext.Set{uriA}, Visible: ext.Set{uriA}},
		},
		{
			name: "rules that allow add up",
			q: ext.Question{
				Requested: ext.Set{uriA, uriB, uriC, d}, Declared: all,
				Rules: []ext.Effect{{Allow: []string{uriA}}, {Allow: []string{uriB}, Require: []string{d}}},
			},
			want: ext.Outcome{
				Send: ext.Set{uriA, uriB, d}, Visible: ext.Set{uriA, uriB, d},
				Required: ext.Set{d}, Refused: ext.Set{uriC},
			},
		},
		{
			name: "a rule denies what a card requires",
			q: ext.Question{
				Declared: []ext.Declared{{URI: uriA, Required: true}, {URI: uriB, Required: true}},
				Rules:    []ext.Effect{{Deny: []string{uriA}}, {Inject: []string{uriB}}},
			},
			want: ext.Outcome{
				Send: ext.Set{uriB}, Injected: ext.Set{uriB}, Required: ext.Set{uriB},
			},
		},
		{
			name: "shadows",
			q: ext.Question{
				Requested: ext.Set{uriB}, Declared: []ext.Declared{{URI: uriA, Required: true}, {URI: uriB}},
				Config: &ext.Config{Mode: "shadow", Deny: []string{uriB}},
				Rules: []ext.Effect{
					{Rule: "R", Shadow: true, Deny: []string{uriB}, Require: []string{uriC}, Inject: []string{d}},
				},
			},
			want: ext.Outcome{
				Send: ext.Set{uriB}, Visible: ext.Set{uriB},
				Shadow: []string{
					"extensions: require " + uriA, "extensions: deny " + uriB,
					"rule R: require " + uriC, "rule R: deny " + uriB, "rule R: inject " + d,
				},
			},
		},
		{
			name: "dependencies in the shadow are neither refused nor closed", registry: chain,
			q: ext.Question{
				Requested: ext.Set{uriA, uriB}, Declared: all, Config: &ext.Config{Mode: "shadow"},
			},
			want: ext.Outcome{
				Send: ext.Set{uriA, uriB}, Visible: ext.Set{uriA, uriB},
				Shadow: []string{"extensions: require " + uriC},
			},
		},
		{
			name: "nobody needs to inject what was asked for",
			q: ext.Question{
				Requested: ext.Set{uriA}, Rules: []ext.Effect{{Rule: "R", Shadow: true, Inject: []string{uriA}}},
			},
		},
		{
			name:     "the registry has no shadow",
			registry: ext.Registry{{URI: uriA, Status: ext.Blocked}},
			q: ext.Question{
				Requested: ext.Set{uriA}, Declared: all, Config: &ext.Config{Mode: "shadow"},
			},
			want: ext.Outcome{Refused: ext.Set{uriA}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := compiled(t, tt.registry).Negotiate(&tt.q)
			if diff := cmp.Diff(tt.missing, missingOf(err)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestConfigIsLeftAlone: lists of the configuration are shared by all calls.
func TestConfigIsLeftAlone(t *testing.T) {
	t.Parallel()
	shared := []string{uriA, uriB, uriB}
	q := &ext.Question{
		Config: &ext.Config{Inject: shared[:1]},
		Rules:  []ext.Effect{{Inject: []string{uriC}}},
	}
	var book *ext.Book
	if out, err := book.Negotiate(q); err != nil || len(out.Send) != 2 || shared[1] != uriB {
		t.Errorf("%+v, %v, %q", out, err, shared)
	}
}

// TestSunset: the last day is a day on which the extension works, in UTC.
func TestSunset(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{{URI: uriA, Status: ext.Deprecated, Sunset: "2027-03-31"}})
	east := time.FixedZone("", 14*3600)
	for _, tt := range []struct {
		now  time.Time
		want bool
	}{
		{time.Date(2027, 3, 31, 23, 59, 59, 999999999, time.UTC), true},
		{time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC), false},
		{time.Date(2027, 4, 1, 13, 59, 0, 0, east), true},
		{time.Time{}, true},
	} {
		q := &ext.Question{Requested: ext.Set{uriA}, Declared: []ext.Declared{{URI: uriA, Required: true}}, Now: tt.now}
		out, err := book.Negotiate(q)
		if err != nil || out.Send.Has(uriA) != tt.want || out.Refused.Has(uriA) == tt.want {
			t.Errorf("at %s: %+v, %v", tt.now, out, err)
		}
		if listed := len(book.Effective(q)) == 1; listed != tt.want {
			t.Errorf("at %s: listed is %t", tt.now, listed)
		}
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{
		{URI: uriA, Description: "the registry's a", Status: ext.Deprecated, Sunset: "2027-03-31", Replacement: uriB},
		{URI: uriB, Description: "the registry's b"},
		{URI: "urn:old", Status: ext.Deprecated},
		{URI: "urn:provided", Description: "the registry's"},
	})
	got := book.Effective(&ext.Question{
		Requested: ext.Set{"urn:ignored"},
		Declared: []ext.Declared{
			{URI: uriB, Description: "b", Params: []byte("{}")}, {URI: uriA}, {URI: uriB, Required: true},
			{URI: uriC, Required: true}, {URI: "urn:old", Description: "old."},
		},
		Config: &ext.Config{
			Require: []string{"urn:gw", uriA}, Deny: []string{uriC},
			Inject: []string{"urn:in", uriB}, Provide: []string{"urn:provided", "urn:old"},
		},
		Rules: []ext.Effect{
			{Require: []string{"urn:rule"}, Inject: []string{"urn:in"}}, {Shadow: true, Require: []string{"urn:s"}},
		},
		Provided: map[string]ext.Declared{
			"urn:provided": {Description: "the provider's", Params: []byte("[]")}, "urn:old": {Description: "x"},
		},
	})
	want := []ext.Declared{
		{URI: uriB, Description: "b", Params: []byte("{}")}, // injected, and so not required
		{URI: uriA, Required: true, Description: "the registry's a Deprecated until 2027-03-31: use " + uriB + "."},
		{URI: "urn:old", Description: "old. Deprecated."},
		{URI: "urn:gw", Required: true},
		{URI: "urn:rule", Required: true},
		{URI: "urn:in"},
		{URI: "urn:provided", Description: "the provider's", Params: []byte("[]")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNilBook: a gateway without a registry asks the same questions.
func TestNilBook(t *testing.T) {
	t.Parallel()
	var book *ext.Book
	book.Close()
	if _, ok := book.Entry(uriA); ok || book.Extra() != nil || book.Skill(nil) != "" || book.Owner(uriA) != "" ||
		book.Hooks(uriA) != nil || book.Schemas(uriA) != nil || book.Machine(uriA) != nil ||
		book.Lint([]ext.Declared{{URI: uriA}}) != nil || book.Warnings() != nil ||
		book.Check(&ext.Config{Require: []string{uriA}}) != nil {
		t.Error("it knows something")
	}
	out, err := book.Negotiate(&ext.Question{Requested: ext.Set{uriA, uriB}, Declared: []ext.Declared{{URI: uriA}}})
	if want := (ext.Outcome{Send: ext.Set{uriA}, Visible: ext.Set{uriA}}); err != nil || !cmp.Equal(want, out) {
		t.Errorf("%+v, %v", out, err)
	}
	if all := book.Effective(&ext.Question{}); len(all) != 0 {
		t.Errorf("lists %v", all)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{
		{URI: uriA, Status: ext.Blocked}, {URI: uriB, Status: ext.Deprecated, Sunset: "2000-01-01"},
	})
	err := book.Check(&ext.Config{
		Require: []string{uriA}, Allow: []string{uriA, uriB}, Inject: []string{uriA}, Provide: []string{uriA},
		Deny: []string{uriA},
	})
	var want []string
	for _, key := range []string{"require", "allow", "inject", "provide"} {
		want = append(want, fmt.Sprintf("%s: extension %q is blocked by the registry", key, uriA))
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
	if err := book.Check(&ext.Config{Require: []string{uriB}, Deny: []string{uriA}}); err != nil {
		t.Error(err)
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	first := hook.Config{URL: "http://127.0.0.1:1/first", Phases: []hook.Phase{hook.Request}}
	second := hook.Config{URL: "http://127.0.0.1:1/second", Phases: []hook.Phase{hook.Event}}
	book := compiled(t, ext.Registry{{URI: uriA, Hooks: []hook.Config{first, second}}, {URI: uriB}})
	hooks := book.Hooks(uriA)
	if len(hooks) != 2 || !hooks[0].Handles(hook.Request) || !hooks[1].Handles(hook.Event) {
		t.Errorf("hooks %v", hooks)
	}
	if len(book.Hooks(uriB))+len(book.Hooks(uriC)) != 0 {
		t.Error("an extension without hooks has some")
	}
}
