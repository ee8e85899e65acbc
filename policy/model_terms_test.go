package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

var drawnNow = time.Unix(1_800_000_000, 0)

// terms reports whether the conditions hold that few rules have.
func (m model) terms(r Rule, q Request) bool {
	p := q.Principal
	if r.Clients != nil && !slices.ContainsFunc(r.Clients, func(pattern string) bool {
		return p.Client != "" && reference(pattern, p.Client) ||
			p.Workload != nil && reference(pattern, p.Workload.Subject)
	}) {
		return false
	}
	for path, values := range r.Claims {
		if !slices.ContainsFunc(values, func(v string) bool { return modelClaim(p, path, v) }) {
			return false
		}
	}
	return modelActors(r, p) && modelSignIn(r.Authentication, q) && modelConsent(r.Consent, p)
}

func modelActors(r Rule, p *authn.Principal) bool {
	switch {
	case r.Actors == nil:
		return true
	case slices.Equal(r.Actors, []string{"none"}):
		return len(p.Actors) == 0
	}
	fit := 0
	for _, a := range p.Actors {
		if slices.ContainsFunc(r.Actors, func(pattern string) bool { return reference(pattern, a.Subject) }) {
			fit++
		}
	}
	if r.Effect == "deny" {
		return fit > 0
	}
	return fit > 0 && fit == len(p.Actors)
}

// modelClaim knows only the top of the claims, which is all that is drawn.
func modelClaim(p *authn.Principal, name, value string) bool {
	v := p.Claims[name]
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return fmt.Sprint(v) == value })
	}
	return v != nil && fmt.Sprint(v) == value
}

func modelSignIn(a *Authentication, q Request) bool {
	if a == nil {
		return true
	}
	p, age := q.Principal, q.Now.Sub(q.Principal.AuthTime)
	return (a.ACR == nil || slices.Contains(a.ACR, p.ACR)) &&
		!slices.ContainsFunc(a.AMR, func(s string) bool { return !slices.Contains(p.AMR, s) }) &&
		(a.MaxAge == 0 || !p.AuthTime.IsZero() && age <= time.Duration(a.MaxAge) && age >= -time.Minute)
}

func modelConsent(c *Consent, p *authn.Principal) bool {
	switch {
	case c == nil:
		return true
	case c.Scope != "":
		return slices.Contains(p.Scopes, c.Scope)
	case c.Value == "":
		return modelClaim(p, c.Claim, "true")
	}
	return modelClaim(p, c.Claim, c.Value)
}

// agreeConsent: what an allowed call was agreed to is what the first rule that allows
// each of its skills asks for.
func agreeConsent(rt *rapid.T, m model, q Request, d Decision, err error) {
	var want []string
	if err == nil && q.Skill != "" {
		_, by := m.one(q, q.Skill, true)
		for _, r := range m.Rules {
			if c := r.Consent; r.Name == by && c != nil {
				want = []string{map[bool]string{true: "scope " + c.Scope, false: "claim " + c.Claim}[c.Scope != ""]}
				if c.Value != "" {
					want[0] += "=" + c.Value
				}
			}
		}
	}
	if (err != nil || q.Skill != "") && !slices.Equal(d.Consent, want) {
		rt.Fatalf("agreed to %q, want %q", d.Consent, want)
	}
}

// drawTerms gives a rule some of the conditions.
func drawTerms(rt *rapid.T, r *Rule) {
	r.Clients = drawList(rt, "clients", []string{"c", "w", "c*", "*"})
	if r.Actors = drawList(rt, "actors", []string{"m", "n*", "*"}); rapid.IntRange(0, 4).Draw(rt, "nobody") == 0 {
		r.Actors = []string{"none"}
	}
	if rapid.IntRange(0, 4).Draw(rt, "claims?") == 0 {
		r.Claims = rapid.MapOfN(rapid.SampledFrom([]string{"k", "l"}),
			rapid.SliceOfN(rapid.SampledFrom([]string{"1", "true", "x"}), 1, 2), 1, 2).Draw(rt, "claims")
	}
	if r.Effect != "allow" {
		return
	}
	if rapid.IntRange(0, 2).Draw(rt, "authentication?") == 0 {
		a := &Authentication{MaxAge: seconds(rapid.SampledFrom([]int{0, 60, 600}).Draw(rt, "max age"))}
		a.ACR = rapid.SampledFrom([][]string{nil, {"gold"}, {"silver", "gold"}, {"silver"}}).Draw(rt, "acr")
		a.AMR = rapid.SampledFrom([][]string{nil, {"pwd"}, {"hwk"}, {"pwd", "hwk"}}).Draw(rt, "amr")
		if a.ACR != nil || a.AMR != nil || a.MaxAge != 0 {
			r.Authentication = a
		}
	}
	if rapid.IntRange(0, 2).Draw(rt, "consent?") == 0 {
		c := rapid.SampledFrom([]Consent{{Scope: "y"}, {Scope: "z"}, {Claim: "k"}, {Claim: "l", Value: "x"}}).Draw(rt, "consent")
		r.Consent = &c
	}
}

// drawSignIn says how the caller came.
func drawSignIn(rt *rapid.T, p *authn.Principal) {
	p.Client = rapid.SampledFrom([]string{"", "c", "cd"}).Draw(rt, "client of")
	if rapid.Bool().Draw(rt, "workload?") {
		p.Workload = &authn.Principal{Subject: rapid.SampledFrom([]string{"w", "c"}).Draw(rt, "workload")}
	}
	for _, subject := range rapid.SliceOfN(rapid.SampledFrom([]string{"m", "n", "no", "none"}), 0, 2).Draw(rt, "actors of") {
		p.Actors = append(p.Actors, authn.Actor{Subject: subject})
	}
	p.Claims = map[string]any{
		"k": rapid.SampledFrom([]any{nil, true, 1.0, "x", []any{"x", false}}).Draw(rt, "claim k"),
		"l": rapid.SampledFrom([]any{nil, "true", []any{}, []any{1.0, "x"}, map[string]any{"x": "x"}}).Draw(rt, "claim l"),
	}
	p.ACR = rapid.SampledFrom([]string{"", "silver", "gold"}).Draw(rt, "acr of")
	p.AMR = rapid.SampledFrom([][]string{nil, {"pwd"}, {"hwk", "pwd"}}).Draw(rt, "amr of")
	if rapid.Bool().Draw(rt, "says when") {
		age := rapid.SampledFrom([]time.Duration{-2 * time.Minute, -time.Minute, 0, time.Minute, 5 * time.Minute, time.Hour})
		p.AuthTime = drawnNow.Add(-age.Draw(rt, "age"))
	}
}

// reference matches by regular expression, byte by byte.
func reference(pattern, s string) bool {
	if pattern == "" {
		return false // an empty entry, which Compile refuses
	}
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(latin1(part))
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(latin1(s))
}

// latin1 makes a rune of every byte, because regexp reads invalid UTF-8 as if it
// were all the same.
func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
