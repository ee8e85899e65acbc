package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestCovered(t *testing.T) {
	t.Parallel()
	night := Window{From: "22:00", To: "06:00", Days: []string{"mon-fri"}}
	late := Window{From: "23:00", To: "01:00", Days: []string{"mon", "tue"}}
	pictures := containing(Content{Parts: []string{"file"}, MediaTypes: []string{"image/*"}, Hosts: []string{"*.example"}})
	pngs := containing(Content{Parts: []string{"file"}, MediaTypes: []string{"image/png"}, Hosts: []string{"a.example", "*.b.example"}})
	for name, tc := range map[string]struct {
		in   []Rule
		want []string // "rule < other"
	}{
		"twice":           {[]Rule{allow("a"), allow("b")}, []string{"b < a"}},
		"three times":     {[]Rule{allow("a"), allow("b"), allow("c")}, []string{"b < a", "c < a"}},
		"narrower first":  {[]Rule{allow("a", groups("g")), allow("b")}, []string{"a < b"}},
		"narrower":        {[]Rule{deny("a", groups("g", "h")), deny("b", groups("h"), skills("s"), calls("GetTask"))}, []string{"b < a"}},
		"overlapping":     {in: []Rule{deny("a", groups("g")), deny("b", skills("s"))}},
		"shadow":          {[]Rule{deny("a", groups("g")), deny("b", groups("g"), shadow)}, []string{"b < a"}},
		"behind a shadow": {in: []Rule{deny("a", shadow), deny("b", groups("g"))}},
		"denied":          {[]Rule{deny("a", groups("g")), allow("b", groups("g"), scopes("x"))}, []string{"b < a"}},
		"denied, about a skill": {
			in: []Rule{deny("a", skills("s", "t")), allow("b", skills("s"))}, // which lets tasks be listed
		},
		"denied, about a skill of sending": {
			[]Rule{deny("a", skills("s", "t")), allow("b", skills("s"), calls("SendMessage"))}, []string{"b < a"},
		},
		"extensions":            {in: []Rule{allow("a"), allow("b", func(r *Rule) { r.Extensions = &RuleExtensions{Deny: []string{"urn:x"}} })}},
		"extensions denied":     {[]Rule{deny("a", groups("g")), says("b", RuleExtensions{Deny: []string{"urn:x"}}, groups("g"))}, []string{"b < a"}},
		"bindings":              {[]Rule{deny("a", over("GRPC", "JSONRPC")), deny("b", over("GRPC"))}, []string{"b < a"}},
		"no bindings":           {in: []Rule{deny("a", over("GRPC", "JSONRPC")), deny("b", groups("g"))}},
		"sources":               {[]Rule{deny("a", from("10.0.0.0/9", "10.128.0.0/9", "::/1")), deny("b", from("10.0.0.0/8", "::1"))}, []string{"b < a"}},
		"other sources":         {in: []Rule{deny("a", from("10.0.0.0/8", "::1")), deny("b", from("10.0.0.0/7"))}},
		"other family":          {in: []Rule{deny("a", from("0.0.0.0/0")), deny("b", from("::1"))}},
		"times":                 {[]Rule{deny("a", during(night)), deny("b", during(late))}, []string{"b < a"}},
		"times the other way":   {[]Rule{deny("a", during(late)), deny("b", during(night))}, []string{"a < b"}},
		"times elsewhere":       {in: []Rule{deny("a", during(night)), deny("b", during(Window{From: "23:00", To: "01:00", Days: []string{"mon"}, Zone: "Asia/Tokyo"}))}},
		"all times":             {[]Rule{deny("a", during(Window{After: "2026-01-01"})), deny("b", during(Window{After: "2026-01-01T08:00:00Z", From: "08:00", Zone: "Asia/Tokyo"}))}, []string{"b < a"}},
		"earlier":               {in: []Rule{deny("a", during(Window{After: "2026-01-01"})), deny("b", during(Window{After: "2025-12-31", Before: "2027-01-01"}))}},
		"later":                 {in: []Rule{deny("a", during(Window{Before: "2026-01-01"})), deny("b", during(Window{After: "2025-12-31"}))}},
		"content":               {[]Rule{allow("a", pictures), allow("b", pngs)}, []string{"b < a"}},
		"content of deny rules": {[]Rule{deny("a", pictures), deny("b", pngs)}, []string{"b < a"}},
		"other content":         {in: []Rule{allow("a", pngs), allow("b", containing(Content{Hosts: []string{"a.example"}}))}},
		"any content":           {[]Rule{deny("a", groups("g")), allow("b", groups("g"), pngs)}, []string{"b < a"}},
		"content that is denied": {
			in: []Rule{deny("a", pictures), allow("b", pngs)}, // calls without parts are allowed
		},
		"sizes":                             {[]Rule{allow("a", containing(Content{MaxBytes: 9})), allow("b", containing(Content{MaxBytes: 8, MaxParts: 1}))}, []string{"b < a"}},
		"larger":                            {in: []Rule{allow("a", containing(Content{MaxBytes: 9})), allow("b", containing(Content{MaxBytes: 10, MaxParts: 1}))}},
		"fresher":                           {[]Rule{allow("a", signIn(Authentication{MaxAge: seconds(60)})), allow("b", signIn(Authentication{MaxAge: seconds(9), AMR: []string{"hwk"}}))}, []string{"b < a"}},
		"other consent":                     {in: []Rule{allow("a", agreed(Consent{Scope: "x"})), allow("b", agreed(Consent{Scope: "y"}))}},
		"bound methods":                     {[]Rule{deny("a", calls("x/send"), over("GRPC", "HTTP+JSON"))}, []string{"a: none of its methods"}},
		"a method over one of the bindings": {in: []Rule{deny("a", calls("x/send", "GetTask"), over("GRPC"))}},
		"parts of reading":                  {[]Rule{deny("a", calls("GetTask"), pictures)}, []string{"a: no call that it is about"}},
		"expressions":                       {in: []Rule{deny("a", func(r *Rule) { r.Expr = "false || skill == 'x'" }), deny("b", groups("g"))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, warnings, err := Compile(Config{Rules: tc.in}, fleet, extra...)
			if err != nil || s == nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range warnings {
				other := ""
				if n, _ := fmt.Sscanf(w.Text, "rule %q", &other); n == 1 {
					got = append(got, w.Rule+" < "+other)
				} else if w.Rule != "" {
					got = append(got, w.Rule+": "+strings.Join(strings.Fields(w.Text)[:4], " "))
				}
			}
			for i, w := range tc.want {
				if i >= len(got) || !strings.HasPrefix(w, got[i]) {
					t.Fatalf("warnings %q, want %q", warnings, tc.want)
				}
			}
			if len(got) != len(tc.want) {
				t.Errorf("warnings %q, want %q", warnings, tc.want)
			}
		})
	}
}

// drawRelated is a Config of rules that are like one another, with a condition more, less
// or wider.
func drawRelated(rt *rapid.T) Config {
	c := drawConfig(rt)
	for i := range c.Rules {
		if i == 0 || rapid.IntRange(0, 4).Draw(rt, "unlike") == 0 {
			continue
		}
		r := c.Rules[rapid.IntRange(0, i-1).Draw(rt, "like")]
		old := c.Rules[i]
		r.Name, r.Mode = old.Name, old.Mode
		if rapid.IntRange(0, 2).Draw(rt, "other effect") == 0 {
			r.Effect = rapid.SampledFrom([]string{"allow", "deny"}).Draw(rt, "effect")
		}
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			changeOne(rt, &r, &old)
		}
		c.Rules[i] = fitEffect(r)
	}
	return c
}

// changeOne leaves a condition out, or takes it from another rule.
func changeOne(rt *rapid.T, r, old *Rule) {
	if rapid.Bool().Draw(rt, "leave out") {
		old = &Rule{}
	}
	changes := []func(){
		func() { r.Agents = old.Agents }, func() { r.Skills = old.Skills }, func() { r.Methods = old.Methods },
		func() { r.Subjects = old.Subjects }, func() { r.Groups = old.Groups }, func() { r.Scopes = old.Scopes },
		func() { r.Issuers = old.Issuers }, func() { r.Clients = old.Clients }, func() { r.Actors = old.Actors },
		func() { r.Claims = old.Claims }, func() { r.Authentication = old.Authentication }, func() { r.Consent = old.Consent },
		func() { r.Bindings = old.Bindings }, func() { r.Sources = old.Sources }, func() { r.Times = old.Times },
		func() { r.Content = old.Content },
	}
	changes[rapid.IntRange(0, len(changes)-1).Draw(rt, "change")]()
}

// fitEffect drops what a rule of this effect may not say.
func fitEffect(r Rule) Rule {
	if r.Effect == "deny" {
		r.Extensions = nil
	}
	if r.Effect == "" && r.Extensions == nil {
		r.Extensions = &RuleExtensions{Deny: []string{"urn:x"}}
	}
	if r.Effect == "allow" {
		return r
	}
	if r.Authentication, r.Consent = nil, nil; r.Content != nil {
		c := *r.Content
		if c.MaxParts, c.MaxPart, c.MaxBytes = 0, 0, 0; c.Parts == nil && c.MediaTypes == nil && c.Hosts == nil {
			r.Content = nil
		} else {
			r.Content = &c
		}
	}
	return r
}

// Whatever is warned of as idle can go, alone or with all the others, and no call is
// decided in another way.
func TestWarnedRulesDecideNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := drawRelated(rt)
		s, warnings, err := Compile(c, someAgents, extra...)
		if err != nil {
			rt.Fatal(err)
		}
		var idle []string
		for _, w := range warnings {
			if w.Rule != "" && !strings.Contains(w.Text, "it matches only calls under the path") {
				idle = append(idle, w.Rule)
			}
		}
		if idle == nil {
			return
		}
		gone := [][]string{idle}
		for _, name := range idle {
			gone = append(gone, []string{name})
		}
		calls := rapid.SliceOfN(rapid.Custom(drawPossible), 10, 30).Draw(rt, "calls")
		for _, names := range gone {
			less := c
			less.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r Rule) bool { return slices.Contains(names, r.Name) })
			without, _, err := Compile(less, someAgents, extra...)
			if err != nil {
				rt.Fatal(err)
			}
			for _, q := range calls {
				before, err := s.Check(q)
				after, err2 := without.Check(q)
				if (err == nil) != (err2 == nil) || !slices.Equal(before.Skills, after.Skills) {
					rt.Fatalf("without %q, of which was warned %q, a call is decided %v and not %v", names, warnings, err2, err)
				}
			}
		}
	})
}

// drawPossible is a call that can happen: over a binding that the method is offered over.
func drawPossible(rt *rapid.T) Request {
	q := drawRequest(rt)
	if q.Binding == 0 || offered(q.Method)&(1<<q.Binding) == 0 {
		q.Binding = wire.JSONRPC
	}
	return q
}

func TestSharingWarned(t *testing.T) {
	t.Parallel()
	entry := func(name string, change func(*Sharing)) Sharing {
		sh := Sharing{Name: name, Groups: []string{"support"}}
		if change != nil {
			change(&sh)
		}
		return sh
	}
	for name, tc := range map[string]struct {
		tasks TasksConfig
		known Known
		want  []string
	}{
		"alone":         {tasks: TasksConfig{Sharing: []Sharing{entry("a", nil)}}},
		"no such agent": {TasksConfig{Sharing: []Sharing{entry("a", func(sh *Sharing) { sh.Agents = []string{"x*"} })}}, Known{}, []string{`tasks.sharing[0]: "a" is about agents that are not configured, so it can never match`}},
		"shared anyway": {TasksConfig{Scope: "agent", Sharing: []Sharing{entry("a", nil)}}, Known{}, []string{`tasks.sharing[0]: "a" shares nothing that tasks.scope: agent does not share`}},
		"twice":         {TasksConfig{Sharing: []Sharing{entry("a", nil), entry("b", nil)}}, Known{}, []string{`tasks.sharing[1]: "b" shares nothing that "a" does not share`}},
		"narrower": {
			TasksConfig{Sharing: []Sharing{entry("a", func(sh *Sharing) { sh.Skills, sh.Methods = []string{"s"}, []string{"GetTask"} }), entry("b", nil)}},
			Known{}, []string{`tasks.sharing[0]: "a" shares nothing that "b" does not share`},
		},
		"any skill that is known": {tasks: TasksConfig{Sharing: []Sharing{entry("a", func(sh *Sharing) { sh.Skills = []string{"*"} }), entry("b", func(sh *Sharing) { sh.Methods = []string{"GetTask"} })}}},
		"unknown issuers": {
			TasksConfig{Sharing: []Sharing{entry("a", func(sh *Sharing) { sh.OwnerIssuers, sh.Issuers = []string{"x"}, []string{"y", "i"} })}}, Known{Issuers: []string{"i"}},
			[]string{`tasks.sharing[0].ownerIssuers: "a" names issuer "x", which is not configured`, `tasks.sharing[0].issuers: "a" names issuer "y", which is not configured`},
		},
		"issuers left out": {
			TasksConfig{Sharing: []Sharing{entry("a", nil)}}, Known{Issuers: []string{"i", "j"}},
			[]string{`tasks.sharing[0]: "a" names subjects or groups but no issuers, so the same names from any of 2 issuers match`},
		},
		"unknown skill": {
			TasksConfig{Sharing: []Sharing{entry("a", func(sh *Sharing) { sh.Agents, sh.Skills = []string{"billing"}, []string{"s", "x*", "t"} })}}, Known{Skills: map[string][]string{"billing": {"t"}}},
			[]string{`tasks.sharing[0].skills: "a" names skill "s", which none of its agents has`},
		},
	} {
		s, warnings, err := Compile(Config{Default: "allow", Tasks: tc.tasks}, fleet)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, w := range append(warnings, s.Lint(tc.known)...) {
			got = append(got, w.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTimesOver(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{
		allow("over", during(Window{Before: "2026-01-01"}, Window{Before: "2026-06-01"})),
		allow("open", during(Window{Before: "2026-01-01"}, Window{})),
	}})
	for at, want := range map[string]int{"2026-05-31T23:59:59Z": 0, "2026-06-01T00:00:00Z": 1} {
		if got := s.Lint(Known{Now: moment(t, at)}); len(got) != want || want == 1 && got[0].Rule != "over" {
			t.Errorf("at %s: %q", at, got)
		}
	}
	if s.Lint(Known{}) != nil {
		t.Error("warned without asking for the time")
	}
}
