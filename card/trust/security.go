package trust

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// scheme is one way to authenticate, whichever version's words it is written in.
type scheme struct {
	kind   string // apiKey, http basic, http bearer, oauth2, openIdConnect, mutualTLS
	detail object
	odd    any // what stands there if it is no object, which to readers is as if nothing did
}

// strength orders kinds by what somebody needs who wants to pass for another.
// A certificate proves a key that never leaves the caller; a token can be stolen; a bearer scheme
// of its own kind is above a key or a password, which are sent each time and hardly ever change.
func (s scheme) strength() int {
	switch {
	case s.kind == "mutualTLS":
		return 4
	case s.kind == "oauth2" || s.kind == "openIdConnect":
		return 3
	case strings.HasPrefix(s.kind, "http ") && s.kind != "http basic":
		return 2
	case s.kind == "":
		return 0
	}
	return 1
}

// requirement is one alternative: what has to be shown together, as "scheme" or
// "scheme scope", sorted. An empty one is met by anybody.
type requirement []string

// sameRequirements compares them as they are read, not as people see them: a scheme may
// be called "nothing", or "a, or b".
func sameRequirements(a, b []requirement) bool {
	return slices.EqualFunc(a, b, func(x, y requirement) bool { return slices.Equal(x, y) })
}

// covers reports whether who meets r meets other too. Parts are compared by name: that two schemes
// of different names ask for the same cannot be known from a card.
func (r requirement) covers(other requirement) bool {
	return !slices.ContainsFunc(other, func(part string) bool { return !slices.Contains(r, part) })
}

// alternatives are requirements for people, and are not compared: see sameRequirements.
func alternatives(list []requirement) string {
	if len(list) == 0 {
		list = []requirement{nil}
	}
	words := make([]string, 0, len(list))
	for _, r := range list {
		if len(r) == 0 {
			r = requirement{"nothing"}
		}
		words = append(words, strings.Join(r, " + "))
	}
	return strings.Join(words, ", or ")
}

// open reports whether nothing has to be shown: no requirement at all, or one alternative that is
// empty, which is how OpenAPI says that credentials are optional.
func open(list []requirement) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(r requirement) bool { return len(r) == 0 })
}

// weaker reports whether somebody who was refused by the old requirements may not be by
// the new ones: each of these has to ask for all that one of the old ones asked for.
// Cards that only say it otherwise, with another name for the same scheme, count as weaker: it errs
// towards asking a person.
func weaker(old, new []requirement) bool {
	switch {
	// Nothing is weaker than nothing.
	case open(old):
		return false
	case open(new):
		return true
	}
	return slices.ContainsFunc(new, func(n requirement) bool {
		return !slices.ContainsFunc(old, func(o requirement) bool { return n.covers(o) })
	})
}

// readSecurity reads the schemes of a card and what is required of callers. A card of 0.1 has no schemes
// and names what it takes.
func (p *profile) readSecurity(top object) {
	p.schemes = map[string]scheme{}
	for name, v := range take[object](top, "securitySchemes") {
		if o, ok := v.(object); ok {
			p.schemes[name] = readScheme(camelled(o))
		} else {
			p.schemes[name] = scheme{odd: v}
		}
	}
	p.requirements = readRequirements(top)
	// A2A 0.1 has {"authentication":{"schemes":["Bearer"]}} and no securitySchemes.
	legacy := takeObject(top, "authentication")
	for _, name := range texts(takeList(legacy, "schemes")) { // 0.1: each is an alternative
		key := strings.ToLower(name)
		if _, there := p.schemes[key]; !there {
			p.schemes[key] = scheme{kind: legacyKind(key)}
		}
		same := func(o requirement) bool { return slices.Equal(o, requirement{key}) }
		if !slices.ContainsFunc(p.requirements, same) {
			p.requirements = append(p.requirements, requirement{key})
		}
	}
	p.authentication = legacy
}

// legacyKind is the kind of scheme that a name of 0.1 stands for. There they were names alone, written
// as OpenAPI or HTTP has them; what is none of the former is taken for a scheme of HTTP.
func legacyKind(name string) string {
	switch name {
	case "apikey":
		return "apiKey"
	case "oauth2", "oauth":
		return "oauth2"
	}
	return "http " + name
}

// wrappers are 1.0's members, and the kinds that they hold.
var wrappers = [...]struct{ name, kind string }{
	{"apiKeySecurityScheme", "apiKey"},
	{"httpAuthSecurityScheme", "http"},
	{"oauth2SecurityScheme", "oauth2"},
	{"openIdConnectSecurityScheme", "openIdConnect"},
	{"mtlsSecurityScheme", "mutualTLS"},
}

// readScheme reads 0.3's form, 1.0's, both in one, and what JavaScript's SDK serves. One
// that says one thing here and another there is left as it is written: readers differ on
// which of both counts, and neither may change unseen.
// The same scheme in 0.3 and in 1.0:
//
//	{"type":"http","scheme":"Bearer"}
//	{"httpAuthSecurityScheme":{"scheme":"Bearer"}}
func readScheme(o object) scheme {
	kind, detail, ok := unwrapped(o)
	if !ok {
		detail = o
	}
	return scheme{kind: kind, detail: detail}
}

// unwrapped is a scheme in one form, unless it contradicts itself.
func unwrapped(o object) (kind string, out object, ok bool) {
	out, ok = maps.Clone(o), true
	if inner, is := o["scheme"].(object); is { // JavaScript's
		if name, is := inner["$case"].(string); is {
			value, has := inner["value"]
			delete(out, "scheme")
			ok = (len(inner) == 1 || len(inner) == 2 && has) && join(out, object{name: value})
		}
	}
	kind = takeText(out, "type")
	for _, w := range wrappers {
		inner, is := out[w.name].(object)
		if !is {
			continue
		}
		delete(out, w.name)
		ok = ok && (kind == "" || kind == w.kind) && join(out, camelled(inner))
		kind = cmp.Or(kind, w.kind)
	}
	if in := takeText(out, "in"); in != "" {
		ok = ok && join(out, object{"location": in}) // 1.0's word
	}
	if kind == "http" {
		kind += " " + strings.ToLower(takeText(out, "scheme"))
	}
	return kind, out, ok
}

// join adds members to o. It is false where o has another one of a name: which of the two a reader
// takes is not for this package to guess.
func join(o, members object) bool {
	for name, v := range members {
		if was, there := o[name]; there && !reflect.DeepEqual(was, v) {
			return false
		}
		o[name] = v
	}
	return true
}

// readRequirements takes the requirements of a card or a skill, of whichever version,
// in the four ways that they are written in.
// Order within an alternative means nothing, so that its parts are sorted.
func readRequirements(o object) []requirement {
	entries, legacy := takeList(o, "securityRequirements"), takeList(o, "security")
	if len(entries) == 0 {
		entries = legacy
	}
	var all []requirement
	for _, v := range entries {
		entry, _ := v.(object)
		if inner, ok := entry["schemes"].(object); ok && len(entry) == 1 {
			entry = inner
		}
		r := requirement{}
		for name, scopes := range entry {
			if wrapped, ok := scopes.(object); ok {
				scopes = wrapped["list"]
			}
			name = word(name)
			r = append(r, name)
			list, _ := scopes.([]any)
			for _, scope := range texts(list) {
				r = append(r, name+" "+word(scope))
			}
		}
		slices.Sort(r)
		all = append(all, slices.Compact(r))
	}
	return all
}

// word is a name or a scope as a part of a requirement: in quotes where it would pass for
// two otherwise. Scopes of OAuth have neither spaces nor quotes (RFC 6749 §3.3).
func word(s string) string {
	if s == "" || strings.ContainsAny(s, " \"") {
		return strconv.Quote(s)
	}
	return s
}
