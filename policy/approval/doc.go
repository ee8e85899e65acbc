// Package approval says who may agree to a call that a rule with effect approve has wait, and for which
// calls their approval counts.
//
// It owns the keys approvers, advisers, within and remember of such a rule. It is pure: which calls wait, and who
// has agreed, is not known here (proxy/approvals).
package approval
