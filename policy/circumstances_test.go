package policy

import (
	"net/netip"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // so that the tests need no zones of the machine's

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func over(list ...string) func(*Rule)       { return func(r *Rule) { r.Bindings = list } }
func from(list ...string) func(*Rule)       { return func(r *Rule) { r.Sources = list } }
func during(list ...Window) func(*Rule)     { return func(r *Rule) { r.Times = list } }
func containing(c Content) func(*Rule)      { return func(r *Rule) { r.Content = &c } }
func sizes(n int) quantity.Size             { return quantity.Size(n) }
func parts(list ...wire.Part) *wire.Message { return &wire.Message{Parts: list} }

// onCall is signedIn's call with what conditions on the call itself ask for.
func onCall(t testing.TB) Request {
	t.Helper()
	q := signedIn(t)
	q.Binding, q.Source = wire.JSONRPC, netip.MustParseAddr("10.1.2.3")
	q.Message = parts(wire.Part{Kind: wire.PartText, Text: "hi", Bytes: 2})
	return q
}

// stepOf is what Trace says failed of the only rule.
func stepOf(t testing.TB, s *Set, q Request) string {
	t.Helper()
	hasStepUp := s.Trace(q)
	if len(hasStepUp) != 1 {
		t.Fatalf("%d steps, want 1", len(hasStepUp))
	}
	return hasStepUp[0].Failed
}

// Each rule is tried as an allow and as a deny rule: what Trace names is what failed.
func TestCircumstances(t *testing.T) {
	t.Parallel()
	friday := Window{Days: []string{"fri"}}
	for name, tc := range map[string]struct {
		rule        func(*Rule)
		change      func(*Request)
		allow, deny string // what fails
	}{
		"binding":              {rule: over("GRPC", "JSONRPC")},
		"other binding":        {rule: over("HTTP+JSON"), allow: "bindings", deny: "bindings"},
		"no binding":           {rule: over("JSONRPC"), change: func(q *Request) { q.Binding = 0 }, allow: "bindings"},
		"source":               {rule: from("192.0.2.0/24", "10.0.0.0/8")},
		"one address":          {rule: from("10.1.2.3")},
		"other source":         {rule: from("10.2.0.0/16", "2001:db8::/32"), allow: "sources", deny: "sources"},
		"mapped source":        {rule: from("10.0.0.0/8"), change: source("::ffff:10.1.2.3")},
		"mapped network":       {rule: from("::ffff:10.0.0.0/104")},
		"mapped address":       {rule: from("::ffff:10.1.2.3")},
		"source with a zone":   {rule: from("fe80::/10"), change: source("fe80::1%eth0")},
		"every IPv6":           {rule: from("::/0"), allow: "sources", deny: "sources"},
		"unknown source":       {rule: from("0.0.0.0/0", "::/0"), change: func(q *Request) { q.Source = netip.Addr{} }, allow: "sources"},
		"time":                 {rule: during(Window{Days: []string{"mon"}}, friday)},
		"other time":           {rule: during(Window{Days: []string{"sat-thu"}}), allow: "times", deny: "times"},
		"no time":              {rule: during(friday), change: func(q *Request) { q.Now = time.Time{} }, allow: "times"},
		"the first that fails": {rule: all(over("GRPC"), from("::1"), during(Window{Days: []string{"sat"}})), allow: "bindings", deny: "bindings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := onCall(t)
			if tc.change != nil {
				tc.change(&q)
			}
			if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", tc.rule)}}), q); got != tc.allow {
				t.Errorf("an allow rule fails at %q, want %q", got, tc.allow)
			}
			if got := stepOf(t, compile(t, Config{Rules: []Rule{deny("r", tc.rule)}}), q); got != tc.deny {
				t.Errorf("a deny rule fails at %q, want %q", got, tc.deny)
			}
		})
	}
}

func source(text string) func(*Request) {
	return func(q *Request) { q.Source = netip.MustParseAddr(text) }
}

func all(changes ...func(*Rule)) func(*Rule) {
	return func(r *Rule) {
		for _, change := range changes {
			change(r)
		}
	}
}

func TestCircumstancesRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Rule){
		`bindings: "grpc" is none of JSONRPC, HTTP+JSON, GRPC and MCP`: over("grpc"),
		"bindings is empty":                                                  over([]string{}...),
		"bindings has an empty entry":                                        over("GRPC", ""),
		`bindings are compared exactly and "*" is none`:                      over("*"),
		"sources is empty":                                                   from([]string{}...),
		"sources has an empty entry":                                         from(""),
		`sources: "example.com" is no address or network`:                    from("example.com"),
		`sources: "10.0.0.0/33" is no address or network`:                    from("10.0.0.0/33"),
		`sources: "10.1.0.0/8" has bits beyond its length; write 10.0.0.0/8`: from("10.1.0.0/8"),
		`sources: "fe80::1%eth0" has a zone`:                                 from("fe80::1%eth0"),
		`sources: "fe80::%eth0/64" is no address or network`:                 from("fe80::%eth0/64"),
		`sources: "::ffff:0.0.0.0/90" has bits`:                              from("::ffff:0.0.0.0/90"),
	} {
		_, _, err := Compile(Config{Rules: []Rule{deny("r", change)}}, fleet)
		if err == nil || !strings.Contains(err.Error(), `rule "r": `+want) {
			t.Errorf("Compile: %v, want %q in the error", err, want)
		}
	}
}

// What a caller may see does not change with the hour: allow rules count whatever they
// ask of the call, deny rules with such conditions hide nothing.
func TestCircumstancesSeen(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]func(*Rule){
		"bindings": over("GRPC"), "sources": from("::1"), "times": during(Window{Days: []string{"sat"}}),
		"content": containing(Content{Parts: []string{"file"}}),
	} {
		q, only := onCall(t), []string{"invoices"}
		s := compile(t, Config{Rules: []Rule{allow("r", condition)}})
		if _, err := s.Check(q); err == nil || !s.Sees(q.Principal, "billing") || len(s.Skills(q.Principal, "billing", only)) != 1 {
			t.Errorf("%s: an allow rule that does not hold lets the call pass, or hides the agent", name)
		}
		s = compile(t, Config{Default: "allow", Rules: []Rule{deny("r", condition)}})
		if _, err := s.Check(q); err != nil || !s.Sees(q.Principal, "billing") || len(s.Skills(q.Principal, "billing", only)) != 1 {
			t.Errorf("%s: a deny rule that does not hold stops the call, or hides the agent", name)
		}
		e := RuleExtensions{Allow: []string{"urn:a"}, Deny: []string{"urn:b"}}
		lists := compile(t, Config{Rules: []Rule{says("r", e, condition)}}).Extensions(nil, "billing", nil)
		if len(lists[0]) != 1 || lists[0][0].Allow == nil || lists[0][0].Deny != nil {
			t.Errorf("%s: cards show %+v, want what is allowed and nothing denied", name, lists[0])
		}
	}
}

// Scopes are asked for where they help: not at another hour, nor for another content.
func TestCircumstancesAskForNoScopes(t *testing.T) {
	t.Parallel()
	q := onCall(t)
	late := compile(t, Config{Rules: []Rule{allow("r", scopes("x"), during(Window{Days: []string{"sat"}}))}})
	if v := judge(t, late, q); v.Scopes != nil {
		t.Errorf("asked for %q, which change nothing before Saturday", v.Scopes)
	}
	_, err := late.Check(q)
	if !strings.Contains(err.Error(), `rule "r" would, but for times`) {
		t.Errorf("%v does not say what is missing", err)
	}
	if v := judge(t, compile(t, Config{Rules: []Rule{allow("r", scopes("x"), during(Window{Days: []string{"fri"}}))}}), q); len(v.Scopes) != 1 {
		t.Errorf("asked for %q, want x", v.Scopes)
	}
}
