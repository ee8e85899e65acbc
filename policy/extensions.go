package policy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Extensions is what one rule says about extensions. Its lists are the rule's own
// and must not be changed.
type Extensions struct {
	Rule   string // the rule's name
	Shadow bool   // only recorded
	RuleExtensions
}

// Extensions returns what rules say about extensions in messages sent to an agent,
// for its card: one list for each of the skills, or a single one for the agent when
// there are no skills. Lists that are the same appear once. Of a caller that is not
// known (nil) only the rules without a condition on callers count; a missing
// authentication or consent does not, as with Skills, nor do conditions on the call.
func (s *Set) Extensions(p *authn.Principal, agent string, skills []string) [][]Extensions {
	if !s.hasExtensionRules || p != nil && !p.MayUse(agent) {
		return [][]Extensions{nil}
	}
	send := s.ops.sending()
	var hits []*rule
	if p == nil {
		hits = unconditional(s.agents[agent], send)
	} else {
		hits = gather(hits, s.agents[agent], p, send, nil)
	}
	if len(skills) == 0 {
		return [][]Extensions{said(hits, &need{level: withoutSkill}, shown)}
	}
	var lists [][]Extensions
	for _, skill := range skills {
		list := said(hits, &need{level: bySkill, one: skill}, shown)
		if !slices.ContainsFunc(lists, func(other []Extensions) bool { return sameRules(other, list) }) {
			lists = append(lists, list)
		}
	}
	return lists
}

// unconditional gathers the rules that hold for every caller.
func unconditional(buckets []*bucket, m methods) []*rule {
	var hits []*rule
	for _, b := range buckets {
		for _, r := range b.rest.all { // rules with groups, scopes or issuers stand elsewhere
			if r.target.methods&m != 0 && !r.hasAny(ofCaller, ofSignIn) && r.call.expr == nil {
				hits = append(hits, r)
			}
		}
	}
	return hits
}

// speak compiles what a rule says about extensions. What it denies under conditions on
// the call hides nothing: as with calls, it is refused when it is asked for.
func (r *rule) speak(src *RuleExtensions) {
	if src == nil {
		return
	}
	r.says = &Extensions{Rule: r.name, Shadow: r.shadow, RuleExtensions: *src}
	// Cards are made for no particular call.
	if r.shows = r.says; !r.momentary() || src.Deny == nil {
		return
	}
	r.shows = nil
	if shown := *r.says; src.Allow != nil || src.Require != nil || src.Inject != nil {
		shown.Deny = nil
		r.shows = &shown
	}
}

// spoken is what a rule says about extensions of the calls it matches, and shown what
// cards tell of it; nil for nothing.
func spoken(r *rule) *Extensions { return r.says }
func shown(r *rule) *Extensions  { return r.shows }

// said lists what the rules that match say about extensions, each rule once and in the
// order of the file.
func said(hits []*rule, n *need, of func(*rule) *Extensions) []Extensions {
	var list []Extensions
	last := -1
	for {
		var next *rule
		for _, r := range hits {
			if of(r) != nil && r.pos > last && (next == nil || r.pos < next.pos) && n.met(r) {
				next = r
			}
		}
		if next == nil {
			return list
		}
		list = append(list, *of(next))
		last = next.pos
	}
}

// sameRules reports whether two lists are of the same rules; names are unique.
func sameRules(a, b []Extensions) bool {
	return slices.EqualFunc(a, b, func(x, y Extensions) bool { return x.Rule == y.Rule })
}

// checkExtensions returns what is wrong with what a rule says about extensions.
func (r *Rule) checkExtensions() []error {
	e := r.Extensions
	if e == nil {
		return nil
	}
	if e.Allow == nil && e.Deny == nil && e.Require == nil && e.Inject == nil {
		return []error{keypath.Point(errors.New("extensions has none of allow, deny, require and inject"), "extensions")}
	}
	var problems []error
	for _, l := range []struct {
		key  string
		uris []string
	}{{"allow", e.Allow}, {"deny", e.Deny}, {"require", e.Require}, {"inject", e.Inject}} {
		if l.uris != nil && len(l.uris) == 0 {
			problems = append(problems, keypath.Point(fmt.Errorf("extensions.%s is empty; leave it out", l.key), "extensions", l.key))
		}
		for i, uri := range l.uris {
			switch {
			case !absolute(uri):
				problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is not an absolute URI", uri), i), "extensions", l.key))
			case slices.Contains(l.uris[:i], uri):
				problems = append(problems, keypath.Point(fmt.Errorf("extensions.%s has %q twice", l.key, uri), "extensions", l.key, i))
			case l.key != "deny" && slices.Contains(e.Deny, uri):
				problems = append(problems, keypath.Point(fmt.Errorf("extensions.%s has %q, which extensions.deny has too", l.key, uri), "extensions", l.key, i))
			}
		}
	}
	return problems
}

// absolute is a cheap look; package ext has the full one. A comma would be two
// extensions in the header that carries them.
func absolute(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.Scheme != "" && len(uri) > len(u.Scheme)+1 && !strings.ContainsAny(uri, " ,\"<>")
}
