package policy

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func signIn(a Authentication) func(*Rule) { return func(r *Rule) { r.Authentication = &a } }
func agreed(c Consent) func(*Rule)        { return func(r *Rule) { r.Consent = &c } }

func seconds(n int) quantity.Duration { return quantity.Duration(time.Duration(n) * time.Second) }

// signedIn is a call for the skill "invoices" by somebody who gave a password five
// minutes ago, to the app, and has agreed to reports.
func signedIn(t testing.TB) Request {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	p := alice()
	p.Client, p.ACR, p.AMR, p.AuthTime = "app", "silver", []string{"pwd"}, now.Add(-5*time.Minute)
	p.Claims = map[string]any{"a": "1", "b": "1", "ok": true, "consents": []any{"reports"}}
	return Request{
		Principal: p, Agent: "billing", Method: method(t, wire.SendMessage), Now: now,
		Skill: "invoices", Skills: []string{"invoices", "refunds"},
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	gold := Authentication{ACR: []string{"gold", "silver-plus"}, AMR: []string{"hwk"}, MaxAge: seconds(600)}
	needsGold := &StepUp{ACR: gold.ACR, AMR: gold.AMR, MaxAge: 10 * time.Minute}
	both := func(q *Request) { q.Skill = "" }
	for name, tc := range map[string]struct {
		rules  []Rule
		change func(*Request)
		want   verdict
	}{
		"good enough": {
			rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"gold", "silver"}, AMR: []string{"pwd"}, MaxAge: seconds(300)}))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"another class": {rules: []Rule{allow("r", signIn(gold))}, want: verdict{Rule: "default", StepUp: needsGold, Visible: true}},
		"another method": {
			rules: []Rule{allow("r", signIn(Authentication{AMR: []string{"pwd", "hwk"}}))},
			want:  verdict{Rule: "default", StepUp: &StepUp{AMR: []string{"pwd", "hwk"}}, Visible: true},
		},
		"all of it is asked for again": {
			rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"silver"}, MaxAge: seconds(60)}))},
			want:  verdict{Rule: "default", StepUp: &StepUp{ACR: []string{"silver"}, MaxAge: time.Minute}, Visible: true},
		},
		"a scope as well": {
			rules: []Rule{allow("seen", calls("GetTask")), allow("r", scopes("x"), signIn(gold), agreed(Consent{Scope: "y"}))},
			want:  verdict{Rule: "default", Scopes: []string{"x", "y"}, StepUp: needsGold, Visible: true},
		},
		"a condition that nobody can meet": {rules: []Rule{allow("r", groups("admins"), signIn(gold))}, want: verdict{Rule: "default"}},
		"another client":                   {rules: []Rule{allow("r", clients("shop"), signIn(gold))}, want: verdict{Rule: "default"}},
		"an allow rule without": {
			rules: []Rule{allow("r", signIn(gold)), allow("s")}, want: verdict{Allowed: true, Rule: "s"},
		},
		"denied anyway":   {rules: []Rule{allow("r", signIn(gold)), deny("no", skills("invoices"))}, want: verdict{Rule: "no", Visible: true}},
		"a shadow":        {rules: []Rule{allow("r", signIn(gold), shadow)}, want: verdict{Rule: "default"}},
		"two skills":      {rules: []Rule{allow("r", signIn(gold))}, change: both, want: verdict{Rule: "default", StepUp: needsGold, Visible: true}},
		"one that is not": {rules: []Rule{allow("r", skills("refunds"), signIn(gold))}, change: both, want: verdict{Rule: "default", Visible: true}},
		"both skills' rules": {
			rules: []Rule{
				allow("i", skills("invoices"), signIn(Authentication{ACR: []string{"silver", "gold"}, AMR: []string{"pwd"}})),
				allow("r", skills("refunds"), signIn(gold)),
			},
			change: both,
			want: verdict{
				Rule: "default", Visible: true,
				StepUp: &StepUp{ACR: []string{"gold"}, AMR: []string{"pwd", "hwk"}, MaxAge: 10 * time.Minute},
			},
		},
		"no class is both": {
			rules: []Rule{
				allow("i", skills("invoices"), scopes("x"), signIn(Authentication{ACR: []string{"silver"}})),
				allow("r", skills("refunds"), signIn(gold)),
			},
			change: both,
			want:   verdict{Rule: "default", Visible: true},
		},
		"the shorter time": {
			rules: []Rule{
				allow("i", skills("invoices"), signIn(Authentication{MaxAge: seconds(60)})),
				allow("r", skills("refunds"), signIn(Authentication{MaxAge: seconds(30)})),
			},
			change: both,
			want:   verdict{Rule: "default", StepUp: &StepUp{MaxAge: 30 * time.Second}, Visible: true},
		},

		"agreed, scope": {
			rules: []Rule{allow("r", agreed(Consent{Scope: "billing.read"}))},
			want:  verdict{Allowed: true, Rule: "r", Consent: []string{"scope billing.read"}},
		},
		"agreed, claim": {
			rules: []Rule{allow("r", agreed(Consent{Claim: "ok"}))},
			want:  verdict{Allowed: true, Rule: "r", Consent: []string{"claim ok"}},
		},
		"agreed, value": {
			rules: []Rule{allow("r", agreed(Consent{Claim: "consents", Value: "reports"}))},
			want:  verdict{Allowed: true, Rule: "r", Consent: []string{"claim consents=reports"}},
		},
		"agreed for two skills": {
			rules: []Rule{
				allow("i", skills("invoices"), agreed(Consent{Claim: "ok"})),
				allow("r", skills("refunds"), agreed(Consent{Scope: "openid"})),
				allow("other", skills("other"), agreed(Consent{Scope: "billing.read"})),
			},
			change: both,
			want:   verdict{Allowed: true, Rule: "i", Consent: []string{"claim ok", "scope openid"}},
		},
		"agreed once for two": {
			rules:  []Rule{allow("r", agreed(Consent{Claim: "ok"}))},
			change: both,
			want:   verdict{Allowed: true, Rule: "r", Consent: []string{"claim ok"}},
		},
		"not needed": {
			rules: []Rule{allow("s"), allow("r", agreed(Consent{Claim: "ok"}))},
			want:  verdict{Allowed: true, Rule: "s"},
		},
		"not agreed, scope": {
			rules: []Rule{allow("r", agreed(Consent{Scope: "z"}))},
			want:  verdict{Rule: "default", Scopes: []string{"z"}, Visible: true},
		},
		"not agreed, claim": {
			rules: []Rule{allow("r", agreed(Consent{Claim: "consents", Value: "refunds"}), signIn(gold))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"not agreed, but another rule": {
			rules: []Rule{allow("r", agreed(Consent{Claim: "no"})), allow("s", agreed(Consent{Scope: "z"}))},
			want:  verdict{Rule: "default", Scopes: []string{"z"}, Visible: true},
		},
		"a value is not just there": {rules: []Rule{allow("r", agreed(Consent{Claim: "a"}))}, want: verdict{Rule: "default", Visible: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := signedIn(t)
			if tc.change != nil {
				tc.change(&q)
			}
			if diff := cmp.Diff(tc.want, judge(t, compile(t, Config{Rules: tc.rules}), q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMaxAge(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{allow("r", signIn(Authentication{MaxAge: seconds(900)}))}})
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		now, at func(now time.Time) time.Time
		want    bool
	}{
		"now":               {at: func(now time.Time) time.Time { return now }, want: true},
		"just in time":      {at: func(now time.Time) time.Time { return now.Add(-15 * time.Minute) }, want: true},
		"just too late":     {at: func(now time.Time) time.Time { return now.Add(-15*time.Minute - 1) }},
		"a little ahead":    {at: func(now time.Time) time.Time { return now.Add(time.Minute) }, want: true},
		"too far ahead":     {at: func(now time.Time) time.Time { return now.Add(time.Minute + 1) }},
		"centuries ahead":   {at: func(time.Time) time.Time { return far }},
		"not said":          {at: func(time.Time) time.Time { return time.Time{} }},
		"1970":              {at: func(time.Time) time.Time { return time.Unix(0, 0) }},
		"no time of a call": {at: func(now time.Time) time.Time { return now }, now: func(time.Time) time.Time { return time.Time{} }},
		"no times at all": {
			at: func(time.Time) time.Time { return time.Time{} }, now: func(time.Time) time.Time { return time.Time{} },
		},
	} {
		q := signedIn(t)
		q.Principal.AuthTime = tc.at(q.Now)
		if tc.now != nil {
			q.Now = tc.now(q.Now)
		}
		if _, err := s.Check(q); (err == nil) != tc.want {
			t.Errorf("%s: %v, want allowed %v", name, err, tc.want)
		}
	}
	q := signedIn(t)
	q.Now = time.Time{}
	if _, err := compile(t, Config{Rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"silver"}}))}}).Check(q); err != nil {
		t.Errorf("a class is asked for, and the time mattered: %v", err)
	}
}

// What a caller could do is in the log, also where nothing tells the caller.
func TestReasonNamesTheRule(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Rule{
		`no rule allows skill "invoices"; rule "r" would, but for authentication.acr`: allow("r", signIn(Authentication{ACR: []string{"gold"}})),
		`no rule allows skill "invoices"; rule "r" would, but for consent.claim`:      allow("r", agreed(Consent{Claim: "no"})),
	} {
		_, err := compile(t, Config{Rules: []Rule{r}}).Check(signedIn(t))
		var denied *Denied
		if !errors.As(err, &denied) || denied.Reason != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A StepUp is the caller's own: changing it changes no rule.
func TestStepUpIsACopy(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"gold"}, AMR: []string{"hwk"}}))}})
	for range 2 {
		step := judge(t, s, signedIn(t)).StepUp
		if diff := cmp.Diff(&StepUp{ACR: []string{"gold"}, AMR: []string{"hwk"}}, step); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		step.ACR[0], step.AMR[0] = "lead", "none"
	}
}

// Callers who are not known get no extensions of rules that ask who calls.
func TestExtensionsOfNobody(t *testing.T) {
	t.Parallel()
	e := RuleExtensions{Require: []string{"urn:x"}}
	for _, condition := range []func(*Rule){
		clients("*"), acting("none"), claiming("a", "1"), signIn(Authentication{MaxAge: seconds(1)}), agreed(Consent{Claim: "ok"}),
	} {
		r := allow("r", condition)
		r.Extensions = &e
		s := compile(t, Config{Rules: []Rule{r}})
		if got := s.Extensions(nil, "billing", nil); len(got) != 1 || got[0] != nil {
			t.Errorf("%+v: %v, want none", r, got)
		}
		if got := s.Extensions(signedIn(t).Principal, "billing", nil); len(got) != 1 || len(got[0]) != 1 {
			t.Errorf("%+v: %v, want one for a caller who could call", r, got)
		}
	}
}
