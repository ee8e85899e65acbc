package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// oneOfSeveral stands for the skill of a call that is for nobody knows which.
const oneOfSeveral = "?"

// someExprs are expressions, what they are of a call, and whether that can be told.
var someExprs = map[string]func(q Request) (holds, known bool){
	`principal.subject == "a"`:  func(q Request) (bool, bool) { return q.Principal.Subject == "a", true },
	`"g" in principal.groups`:   func(q Request) (bool, bool) { return slices.Contains(q.Principal.Groups, "g"), true },
	`principal.claims.none > 1`: func(Request) (bool, bool) { return false, false },
	`principal.claims.k == "x"`: func(q Request) (bool, bool) { return q.Principal.Claims["k"] == any("x"), true },
	`principal.claims.l.all(v, v == "x")`: func(q Request) (bool, bool) {
		switch l := q.Principal.Claims["l"].(type) {
		case []any:
			return !slices.ContainsFunc(l, func(v any) bool { return v != any("x") }), true
		case map[string]any: // its keys
			return len(l) == 1 && l["x"] != nil, true
		}
		return false, false
	},
	`agent.startsWith("a") && skill != "s"`: func(q Request) (bool, bool) {
		return strings.HasPrefix(q.Agent, "a") && q.Skill != "s", q.Skill != oneOfSeveral
	},
	`method in ["GetTask", "SendMessage"]`: func(q Request) (bool, bool) {
		return q.Method.Name == wire.GetTask || q.Method.Name == wire.SendMessage, true
	},
	`size(message.parts) > 1`: func(q Request) (bool, bool) {
		return q.Message != nil && len(q.Message.Parts) > 1, readable(q)
	},
	`message.parts.exists(p, p.bytes > 4)`: func(q Request) (bool, bool) {
		large := q.Message != nil && slices.ContainsFunc(q.Message.Parts, func(p wire.Part) bool { return p.Bytes > 4 })
		return large, readable(q)
	},
	`binding == "GRPC" || cidr("10.0.0.0/8").containsIP(source.ip)`: func(q Request) (bool, bool) {
		inside := q.Source.IsValid() && strings.HasPrefix(q.Source.Unmap().String(), "10.")
		return q.Binding == wire.GRPC || inside, q.Binding == wire.GRPC || q.Source.IsValid()
	},
}

// readable reports whether it is known what a call brings.
func readable(q Request) bool {
	return q.Message != nil || q.Method.Subject != wire.OfMessage && (q.Method.Extension == "" || q.Binding != wire.GRPC)
}

// expr reports whether the expression of a rule holds. A call that declares no skill and
// is about one of the agent's is for the only one, or for one of several.
func (m model) expr(r Rule, q Request, known bool) bool {
	if r.Expr == "" {
		return true
	}
	if known && q.Skill == "" {
		if q.Skill = oneOfSeveral; len(q.Skills) == 1 {
			q.Skill = q.Skills[0]
		}
	}
	holds, told := someExprs[r.Expr](q)
	return holds && told || !told && r.Effect == "deny"
}

func drawExpr(rt *rapid.T, r *Rule) {
	if rapid.IntRange(0, 3).Draw(rt, "expr?") == 0 {
		r.Expr = rapid.SampledFrom(slices.Sorted(maps.Keys(someExprs))).Draw(rt, "expr")
	}
}

// agreeFaults: a decision names the rules, in their order, that could not be told and
// that match but for that.
func agreeFaults(rt *rapid.T, m model, q Request, d Decision) {
	if q.Skill == "" || !q.Principal.MayUse(q.Agent) {
		return
	}
	var want, got []string
	for _, r := range m.Rules {
		plain := r
		plain.Expr = ""
		if r.Expr == "" || !m.holds(plain, q, q.Skill, true) {
			continue
		}
		if _, known := someExprs[r.Expr](q); !known {
			want = append(want, r.Name)
		}
	}
	for _, fault := range d.Faults {
		name, _, _ := strings.Cut(strings.TrimPrefix(fault, `rule "`), `": `)
		got = append(got, name)
	}
	if !slices.Equal(want, got) {
		rt.Fatalf("faults %q, want those of %q", d.Faults, want)
	}
}

// Whatever the order of the rules, the answer is the same, and so is who could not be told.
func TestOrderOfRulesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c, q := drawConfig(rt), drawRequest(rt)
		shuffled := c
		shuffled.Rules = rapid.Permutation(c.Rules).Draw(rt, "order")
		var decisions [2]Decision
		var refused [2]bool
		for i, c := range []Config{c, shuffled} {
			s, _, err := Compile(c, someAgents, extra...)
			if err != nil {
				rt.Fatalf("Compile: %v", err)
			}
			decisions[i], err = s.Check(q)
			refused[i] = err != nil
			slices.Sort(decisions[i].Faults)
			slices.Sort(decisions[i].Shadow)
		}
		if refused[0] != refused[1] || !slices.Equal(decisions[0].Faults, decisions[1].Faults) ||
			!slices.Equal(decisions[0].Shadow, decisions[1].Shadow) || !slices.Equal(decisions[0].Skills, decisions[1].Skills) {
			rt.Fatalf("%+v, refused %v; in another order %+v, %v", decisions[0], refused[0], decisions[1], refused[1])
		}
	})
}

// Whatever else there is, a deny rule that matches, or might, ends the call.
func TestDenyAlwaysWins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c, q := drawConfig(rt), drawRequest(rt)
		q.Skill = rapid.SampledFrom(someSkills).Draw(rt, "the skill")
		s, _, err := Compile(c, someAgents, extra...)
		if err != nil {
			rt.Fatalf("Compile: %v", err)
		}
		_, err = s.Check(q)
		for _, r := range c.Rules {
			if r.Effect == "deny" && r.Mode != "shadow" && (model{c}).holds(r, q, q.Skill, true) && err == nil {
				rt.Fatalf("allowed, although %s denies it", r.Name)
			}
		}
	})
}
