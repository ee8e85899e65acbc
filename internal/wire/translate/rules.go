package translate

import "slices"

// rule is something that retelling does to a meaning rather than to a name. The
// rules stand beside the code that follows them, and docs/versions.md is made of
// them.
type rule struct {
	from, to []dialect
	how      effect
	what     string // a sentence of the document
}

// effect is what becomes of a meaning.
type effect string

const (
	lost    effect = "lost"
	added   effect = "made up"
	changed effect = "changed"
	refused effect = "refused"
)

// Sets of dialects that rules are about.
var (
	every   = []dialect{d01, d03, p03, d10}
	before1 = []dialect{d01, d03, p03}
	after01 = []dialect{d03, p03, d10}
	proto   = []dialect{p03, d10}
	kinded  = []dialect{d01, d03}
	only01  = []dialect{d01}
	onlyD03 = []dialect{d03}
	onlyP03 = []dialect{p03}
	only10  = []dialect{d10}
)

// rules are all of them, in the order of the document.
var rules = slices.Concat(callRules, settingRules, valueRules, idRules, partRules, streamRules, pushRules,
	notificationRules)

// applies reports whether the rule holds between two different dialects.
func (r rule) applies(from, to dialect) bool {
	return from != to && slices.Contains(r.from, from) && slices.Contains(r.to, to)
}

// everywhere reports whether the rule holds between any two dialects.
func (r rule) everywhere() bool { return len(r.from) == dialects && len(r.to) == dialects }
