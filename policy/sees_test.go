package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

func TestSees(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config Config
		change func(*authn.Principal)
		want   bool
		by     string // the rule that hides it, "" for default
	}{
		"no rules":                    {},
		"default allow":               {config: Config{Default: "allow"}, want: true},
		"allowed":                     {config: Config{Rules: []Rule{allow("r")}}, want: true},
		"one skill":                   {config: Config{Rules: []Rule{allow("r", skills("x"))}}, want: true},
		"one method":                  {config: Config{Rules: []Rule{allow("r", calls("GetTask"))}}, want: true},
		"other agent":                 {config: Config{Rules: []Rule{allow("r", agents("weather"))}}},
		"other subject":               {config: Config{Rules: []Rule{allow("r", subjects("bob"))}}},
		"scope missing":               {config: Config{Rules: []Rule{allow("r", scopes("admin"))}}},
		"shadow allow":                {config: Config{Rules: []Rule{allow("r", shadow)}}},
		"denied":                      {config: Config{Rules: []Rule{allow("r"), deny("no")}}, by: "no"},
		"denied by default":           {config: Config{Default: "allow", Rules: []Rule{deny("no", groups("staff"))}}, by: "no"},
		"denied, and allowed nothing": {config: Config{Rules: []Rule{deny("no"), allow("r", subjects("bob"))}}},
		"shadow deny":                 {config: Config{Rules: []Rule{allow("r"), deny("no", shadow)}}, want: true},
		"one skill denied":            {config: Config{Rules: []Rule{allow("r"), deny("no", skills("x"))}}, want: true},
		"one method denied":           {config: Config{Rules: []Rule{allow("r"), deny("no", calls("GetTask"))}}, want: true},
		"all it allows is denied": {
			config: Config{Rules: []Rule{
				allow("r", calls("GetTask", "SendMessage")),
				deny("a", calls("GetTask")),
				deny("b", calls("SendMessage")),
			}},
			by: "a",
		},
		"denied for what is allowed for a skill": {
			config: Config{Rules: []Rule{deny("other", calls("CancelTask")), deny("no", calls("GetTask")), allow("r", calls("GetTask"), skills("x"))}},
			by:     "no",
		},
		"consent missing":        {config: Config{Rules: []Rule{allow("r", agreed(Consent{Scope: "x"}))}}, want: true},
		"claim missing":          {config: Config{Rules: []Rule{allow("r", agreed(Consent{Claim: "x"}))}}, want: true},
		"authentication missing": {config: Config{Rules: []Rule{allow("r", signIn(Authentication{MaxAge: seconds(1)}))}}, want: true},
		"scope missing as well": {
			config: Config{Rules: []Rule{allow("r", scopes("admin"), signIn(Authentication{MaxAge: seconds(1)}))}},
		},
		"authentication missing, denied": {
			config: Config{Rules: []Rule{allow("r", signIn(Authentication{MaxAge: seconds(1)})), deny("no")}},
			by:     "no",
		},
		"other client":          {config: Config{Rules: []Rule{allow("r", clients("shop"))}}},
		"other actors":          {config: Config{Rules: []Rule{allow("r", acting("planner"))}}},
		"other claims":          {config: Config{Rules: []Rule{allow("r", claiming("a", "1"))}}},
		"others' client denied": {config: Config{Rules: []Rule{allow("r"), deny("no", clients("shop"))}}, want: true},
		"bound elsewhere": {
			config: Config{Rules: []Rule{allow("r")}},
			change: func(p *authn.Principal) { p.Agents = []string{"weather"} },
			by:     "credential",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := compile(t, tc.config), alice()
			if tc.change != nil {
				tc.change(p)
			}
			if got := s.Sees(p, "billing"); got != tc.want {
				t.Errorf("Sees: %v, want %v", got, tc.want)
			}
			d := s.Hides(p, "billing")
			if (d == nil) != tc.want {
				t.Fatalf("Hides: %v", d)
			}
			by := tc.by
			if by == "" {
				by = "default"
			}
			if d != nil && (d.Visible || d.Rule != by) {
				t.Errorf("Hides: %+v, want rule %q", d, by)
			}
		})
	}
	s := compile(t, Config{Default: "allow"})
	if s.Hides(nil, "billing") == nil || s.Sees(nil, "billing") || s.Sees(alice(), "nope") {
		t.Error("nobody sees an agent, or somebody sees one that does not exist")
	}
}

func TestSkills(t *testing.T) {
	t.Parallel()
	all := []string{"refunds", "invoices", "audit"}
	bound := alice()
	bound.Agents = []string{"weather"}
	for name, tc := range map[string]struct {
		config    Config
		principal *authn.Principal
		want      []string
	}{
		"none":          {principal: alice(), want: []string{}},
		"all, in order": {config: Config{Default: "allow"}, principal: alice(), want: all},
		"some": {
			config:    Config{Rules: []Rule{allow("r", skills("a*", "refunds"))}},
			principal: alice(),
			want:      []string{"refunds", "audit"},
		},
		"all but one": {
			config:    Config{Rules: []Rule{allow("r"), deny("no", skills("audit"))}},
			principal: alice(),
			want:      all[:2],
		},
		"streaming only": {
			config:    Config{Rules: []Rule{allow("r", calls("SendStreamingMessage"))}},
			principal: alice(),
			want:      all,
		},
		"not to send": {
			config:    Config{Rules: []Rule{allow("r", calls("GetTask"))}},
			principal: alice(),
			want:      []string{},
		},
		"one way denied": {
			config:    Config{Rules: []Rule{allow("r"), deny("no", calls("message/send"))}},
			principal: alice(),
			want:      all,
		},
		"both ways denied": {
			config:    Config{Rules: []Rule{allow("r"), deny("no", calls("message/send", "message/stream"))}},
			principal: alice(),
			want:      []string{},
		},
		"after another sign-in": {
			config: Config{Rules: []Rule{
				allow("a", skills("audit"), signIn(Authentication{ACR: []string{"gold"}})),
				allow("b", skills("invoices"), agreed(Consent{Claim: "x"})),
			}},
			principal: alice(),
			want:      all[1:],
		},
		"shadow": {
			config:    Config{Rules: []Rule{allow("r", shadow)}},
			principal: alice(),
			want:      []string{},
		},
		"bound elsewhere": {config: Config{Default: "allow"}, principal: bound, want: []string{}},
		"nobody":          {config: Config{Default: "allow"}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := compile(t, tc.config).Skills(tc.principal, "billing", all)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got; nil would mean all):\n%s", diff)
			}
		})
	}
}
