package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// approve compiles what a rule with effect approve asks for, and describes what is wrong with it. Its
// digest is that of the whole rule, so that nobody's approval counts for what the rule says later.
func (r *rule) approve() []error {
	keys := approval.Keys{Approvers: r.source.Approvers, Within: r.source.Within, Remember: r.source.Remember}
	if r.effect != approves {
		return keys.Absent()
	}
	text, err := json.Marshal(r.source, json.Deterministic(true))
	if err != nil {
		return []error{err}
	}
	sum := sha256.Sum256(text)
	var problems []error
	r.approval, problems = approval.New(r.name, hex.EncodeToString(sum[:]), keys)
	return problems
}

// approvals are what the rules that hold for a call ask for, in the order of the file.
func approvals(hits []*rule, n *need) []*approval.Rule {
	var list []*approval.Rule
	last := -1
	for {
		var next *rule
		for _, r := range hits {
			if r.effect == approves && !r.shadow && r.pos > last && (next == nil || r.pos < next.pos) && n.met(r) {
				next = r
			}
		}
		if next == nil {
			return list
		}
		list = append(list, next.approval)
		last = next.pos
	}
}
