package policy

import (
	"encoding/json"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func clients(list ...string) func(*Rule) { return func(r *Rule) { r.Clients = list } }
func acting(list ...string) func(*Rule)  { return func(r *Rule) { r.Actors = list } }

// claiming adds one claim.
func claiming(path string, values ...string) func(*Rule) {
	return func(r *Rule) {
		if r.Claims == nil {
			r.Claims = map[string][]string{}
		}
		r.Claims[path] = values
	}
}

// matches reports whether a rule of an effect holds for a caller.
func matches(t *testing.T, effect string, condition func(*Rule), p *authn.Principal) bool {
	t.Helper()
	s := compile(t, Config{Rules: []Rule{build("r", effect, []func(*Rule){condition})}})
	d, _ := s.Check(Request{Principal: p, Agent: "billing", Method: method(t, wire.SendMessage), Skill: "s"})
	return d.Rule == "r"
}

func TestClients(t *testing.T) {
	t.Parallel()
	workload := &authn.Principal{Subject: "spiffe://acme/shop", Issuer: "mtls"}
	for name, tc := range map[string]struct {
		list     []string
		client   string
		workload *authn.Principal
		want     bool
	}{
		"the client":              {list: []string{"x", "app"}, client: "app", want: true},
		"another":                 {list: []string{"x"}, client: "app"},
		"none":                    {list: []string{"app"}},
		"a glob":                  {list: []string{"a*"}, client: "app", want: true},
		"case":                    {list: []string{"App"}, client: "app"},
		"the workload":            {list: []string{"spiffe://acme/*"}, workload: workload, want: true},
		"the workload beside one": {list: []string{"spiffe://acme/*"}, client: "app", workload: workload, want: true},
		"another workload":        {list: []string{"spiffe://evil/*"}, client: "app", workload: workload},
		"any, and there is one":   {list: []string{"*"}, client: "app", want: true},
		"any workload":            {list: []string{"*"}, workload: workload, want: true},
		"any, and there is none":  {list: []string{"*"}},
		"the subject is no client": {
			list: []string{"alice"}, client: "app", workload: workload,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := alice()
			p.Client, p.Workload = tc.client, tc.workload
			for _, effect := range []string{"allow", "deny"} {
				if got := matches(t, effect, clients(tc.list...), p); got != tc.want {
					t.Errorf("%s: %v, want %v", effect, got, tc.want)
				}
			}
		})
	}
}

func TestActors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list        []string
		actors      []string
		allow, deny bool
	}{
		"the one":             {list: []string{"planner"}, actors: []string{"planner"}, allow: true, deny: true},
		"another":             {list: []string{"planner"}, actors: []string{"intern"}},
		"nobody":              {list: []string{"planner"}},
		"all of them":         {list: []string{"p*", "desk"}, actors: []string{"planner", "desk"}, allow: true, deny: true},
		"one too many":        {list: []string{"planner"}, actors: []string{"planner", "intern"}, deny: true},
		"one too many, first": {list: []string{"planner"}, actors: []string{"intern", "planner"}, deny: true},
		"none, and nobody":    {list: []string{"none"}, allow: true, deny: true},
		"none, and somebody":  {list: []string{"none"}, actors: []string{"planner"}},
		"none, and one called so": {
			list: []string{"none"}, actors: []string{"none"},
		},
		"anybody, and somebody": {list: []string{"*"}, actors: []string{"planner", "x"}, allow: true, deny: true},
		"anybody, and nobody":   {list: []string{"*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := alice()
			for _, subject := range tc.actors {
				p.Actors = append(p.Actors, authn.Actor{Subject: subject, Issuer: p.Issuer})
			}
			if got := matches(t, "allow", acting(tc.list...), p); got != tc.allow {
				t.Errorf("allow: %v, want %v", got, tc.allow)
			}
			if got := matches(t, "deny", acting(tc.list...), p); got != tc.deny {
				t.Errorf("deny: %v, want %v", got, tc.deny)
			}
		})
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	const token = `{
		"name": "alice", "verified": true, "off": false, "level": 3, "ratio": 1.5, "tiny": 1e-7, "minus": -0.25,
		"large": 9007199254740993, "null": null, "empty": "", "object": {"alice": "alice"},
		"roles": ["reader", 7, false, ["nested"], null], "none": [],
		"realm": {"access": {"roles": ["x", "y"]}}, "a.b": "whole", "a": {"b": "path", "c": "inner"},
		"https://acme.example/dept": "sales",
		"_claim_names": {"groups": "src1", "far": "src1"}
	}`
	both, neither := [2]bool{true, true}, [2]bool{}
	doubtful := [2]bool{false, true}
	for name, tc := range map[string]struct {
		path   string
		values []string
		want   [2]bool // allow, deny
	}{
		"text":                   {"name", []string{"bob", "alice"}, both},
		"other text":             {"name", []string{"Alice", "alic", "alice "}, neither},
		"true":                   {"verified", []string{"true"}, both},
		"not true":               {"off", []string{"true"}, neither},
		"false":                  {"off", []string{"false"}, both},
		"a number":               {"level", []string{"3"}, both},
		"written otherwise":      {"level", []string{"3.0", "03", "3e0"}, neither},
		"a fraction":             {"ratio", []string{"1.5"}, both},
		"a small one":            {"tiny", []string{"0.0000001"}, both},
		"a negative one":         {"minus", []string{"-0.25"}, both},
		"too large to tell":      {"large", []string{"9007199254740993"}, doubtful},
		"too large, its like":    {"large", []string{"9007199254740992"}, doubtful},
		"too large, and another": {"large", []string{"9007199254740999", "x"}, neither},
		"null":                   {"null", []string{"null", "<nil>"}, neither},
		"absent":                 {"other", []string{"alice"}, neither},
		"an object":              {"object", []string{"alice", "map[alice:alice]"}, neither},
		"a member":               {"roles", []string{"writer", "reader"}, both},
		"a member, a number":     {"roles", []string{"7"}, both},
		"a member, a word":       {"roles", []string{"false"}, both},
		"a member's member":      {"roles", []string{"nested"}, neither},
		"no member":              {"roles", []string{"read", "writer"}, neither},
		"of an empty list":       {"none", []string{"x"}, neither},
		"a path":                 {"realm.access.roles", []string{"y"}, both},
		"a path into a list":     {"realm.access.roles.0", []string{"x"}, neither},
		"a whole name first":     {"a.b", []string{"whole"}, both},
		"not the path, then":     {"a.b", []string{"path"}, neither},
		"beside it":              {"a.c", []string{"inner"}, both},
		"an address":             {"https://acme.example/dept", []string{"sales"}, both},
		"kept elsewhere":         {"groups", []string{"staff"}, doubtful},
		"inside what is":         {"far.away", []string{"x"}, doubtful},
		"its namesake":           {"farther", []string{"x"}, neither},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := alice()
			if err := json.Unmarshal([]byte(token), &p.Claims); err != nil {
				t.Fatal(err)
			}
			got := [2]bool{
				matches(t, "allow", claiming(tc.path, tc.values...), p),
				matches(t, "deny", claiming(tc.path, tc.values...), p),
			}
			if got != tc.want {
				t.Errorf("allow, deny: %v, want %v", got, tc.want)
			}
		})
	}
	p := alice()
	p.Claims = map[string]any{"n": json.Number("9007199254740993")}
	if !matches(t, "allow", claiming("n", "9007199254740993"), p) || matches(t, "deny", claiming("n", "9007199254740992"), p) {
		t.Error("a number kept as it is written is compared as it is written")
	}
	p.Claims = nil
	if matches(t, "allow", claiming("n", "1"), p) || matches(t, "deny", claiming("n", "1"), p) {
		t.Error("an API key has a claim")
	}
}

// Every claim of a rule has to hold.
func TestClaimsAreAllNeeded(t *testing.T) {
	t.Parallel()
	p := alice()
	p.Claims = map[string]any{"a": "1", "b": "2"}
	two := func(b string) func(*Rule) {
		return func(r *Rule) { claiming("a", "1")(r); claiming("b", b)(r) }
	}
	if !matches(t, "allow", two("2"), p) || matches(t, "allow", two("3"), p) {
		t.Error("the second claim is not asked, or not understood")
	}
}
