package policy

import "testing"

// BenchmarkCheckExpr is what an expression costs: alone, as one of a thousand rules, and
// where it is about an agent that is not called.
func BenchmarkCheckExpr(b *testing.B) {
	simple := allow("r", when(`principal.subject == "alice" && size(message.parts) < 10`))
	elsewhere := deny("r", agents("weather"), when(`size(message.parts) < 10`))
	for _, bench := range []struct {
		name string
		rule Rule
		n    int
	}{{"alone", simple, 0}, {"rules=1000", simple, 999}, {"rules=1000/elsewhere", elsewhere, 999}} {
		b.Run(bench.name, func(b *testing.B) {
			rules := []Rule{bench.rule}
			for i := range bench.n {
				rules = append(rules, allow(string(rune('a'+i%26))+string(rune(0x4e00+i)), groups(string(rune(0x4e00+i)))))
			}
			if bench.rule.Effect == "deny" {
				rules = append(rules, allow("plain"))
			}
			s, q := compile(b, Config{Rules: rules}), onCall(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Check(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMatch is an agent with ten match rules of which the last is true.
func BenchmarkMatch(b *testing.B) {
	var rules []MatchRule
	for range 9 {
		rules = append(rules, MatchRule{"refunds", `message.parts.exists(p, p.text.contains("refund"))`})
	}
	s, q := compile(b, Config{Rules: []Rule{allow("r")}}), onCall(b)
	src := SkillSource{
		All: []string{"invoices", "refunds"}, Call: &q, Match: matcher(b, append(rules, MatchRule{"invoices", "true"})...),
	}
	b.ReportAllocs()
	for b.Loop() {
		if skill, _, err := s.Resolve(src); skill != "invoices" {
			b.Fatal(skill, err)
		}
	}
}
