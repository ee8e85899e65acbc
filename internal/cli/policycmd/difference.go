package policycmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// decisionOf is the word for a verdict in files with cases.
// Cases say allow and deny as rules do; refused is what something else than rules refuses.
func decisionOf(said string) string {
	switch said {
	case verdict.Allowed:
		return "allow"
	case verdict.Denied:
		return "deny"
	}
	return said
}

// check reports what can never come true, with the key.
// A wanted rule or scope that does not fit the wanted decision is left to the comparison, which
// shows what there was.
func (w *want) check() (key keypath.Path, err error) {
	switch w.Decision {
	case "", "allow", "deny", verdict.Refused:
	default:
		return keypath.Of("want", "decision"), fmt.Errorf("%q is none of allow, deny and refused", w.Decision)
	}
	if w.Decision == "" && w.Rule == "" && w.Skill == nil && w.Reason == "" && w.Error == "" && w.Scopes == nil &&
		w.Visible == nil && w.Shadow == nil && w.Limits == nil && w.Skills == nil && w.Findings == nil && w.Approvals == nil {
		return keypath.Of("want"), errors.New("nothing is wanted; write allow, deny or refused")
	}
	return nil, nil
}

// difference is something that is not as wanted.
// Wanted and Got are texts for people: lists are sorted and joined with commas, "none" is the
// empty one.
type difference struct {
	What   string `json:"what"` // the key under want
	Wanted string `json:"wanted"`
	Got    string `json:"got"`
}

// compare holds what became of a call to what is wanted. Lists are compared as sets.
//
// The result is nil where all is as wanted. The reason is compared in part, since it names rules
// and skills in a sentence that may change; everything else is compared whole.
func (w *want) compare(e *verdict.Explanation) []difference {
	var list []difference
	// What is left out of a case is never a difference: every line below asks for that first.
	differ := func(what, wanted, got string, ok bool) {
		if !ok {
			list = append(list, difference{what, wanted, got})
		}
	}
	text := func(what, wanted, got string) { differ(what, wanted, got, wanted == "" || wanted == got) }
	text("decision", w.Decision, decisionOf(e.Verdict))
	text("rule", w.Rule, e.Rule)
	// An empty skill is a wanted one here: the call is for none.
	if w.Skill != nil {
		differ("skill", *w.Skill, e.Skill.ID, *w.Skill == e.Skill.ID)
	}
	differ("reason", w.Reason, e.Reason, strings.Contains(e.Reason, w.Reason))
	text("error", w.Error, e.Error)
	if w.Visible != nil {
		differ("visible", strconv.FormatBool(*w.Visible), strconv.FormatBool(e.Visible), *w.Visible == e.Visible)
	}
	for _, l := range []struct {
		what        string
		wanted, got []string
	}{
		{"scopes", w.Scopes, e.MissingScopes},
		{"shadow", w.Shadow, e.Shadow},
		{"limits", w.Limits, limitNames(e)},
		{"skills", w.Skills, e.Skills},
		{"approvals", w.Approvals, approvals(e)},
		{"findings", w.Findings, findings(e)},
	} {
		wanted, got := sorted(l.wanted), sorted(l.got)
		differ(l.what, oneLine(wanted), oneLine(got), l.wanted == nil || slices.Equal(wanted, got))
	}
	return list
}

// limitNames are the limits that apply, each once.
// A limit that counts several things appears once for each in the explanation.
func limitNames(e *verdict.Explanation) []string {
	var names []string
	for _, b := range e.Limits {
		names = append(names, b.Limit)
	}
	return names
}

// approvals are the rules that ask people to agree.
func approvals(e *verdict.Explanation) (list []string) {
	for _, a := range e.Approvals {
		list = append(list, a.Rule)
	}
	return list
}

// findings are what guards find, by guard and kind, each once.
func findings(e *verdict.Explanation) (list []string) {
	for i := range e.Findings {
		list = append(list, e.Findings[i].Guard+": "+e.Findings[i].Kind)
	}
	return list
}

// sorted is a list as a set: in order, each entry once.
func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// oneLine is a list in the report.
func oneLine(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
