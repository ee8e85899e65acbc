package authdemand

import (
	"math"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Bounds of a demand. What is beyond is no agent's honest need.
const (
	mostAudiences   = 32
	mostScopes      = 64
	longestAudience = 1024
	longestScope    = 256
)

// collector gathers what a status and its metadata say.
type collector struct {
	s             *jsonscan.Scanner
	d             Demand
	links         links
	authorization bool // something there is about authorization
}

// sense is what the member says in which a string stands.
type sense int

const (
	anything sense = iota
	audience
	scope
)

// Depths of members: a status has the message, the message its extensions, whose URIs
// are names and lead nowhere. Metadata is of no such shape.
const (
	inMessage  = 1
	inMetadata = 2
)

// collect reads an object of which ReadDemand has found that it is JSON.
func (c *collector) collect(doc []byte, depth int) {
	c.s = wire.NewScanner(doc, wire.Limits{Depth: 10_000, Members: math.MaxInt32})
	defer c.s.Release()
	c.value(anything, depth)
}

// value reads what comes next, said in a member of the sense. A list of strings has the sense of its
// member; an object has members of its own.
func (c *collector) value(says sense, depth int) {
	s := c.s
	switch s.Kind() {
	case '{':
		for s.Enter(); s.More(); {
			c.member(depth)
		}
	case '[':
		for s.Enter(); s.More(); {
			c.value(says, max(depth, inMetadata))
		}
	case '"':
		c.text(says, string(s.Text()))
	default:
		s.Skip()
	}
}

// member reads one member of an object. The name says what its strings are; two names are read for
// themselves: extensions of the message, whose URIs are no links for people, and name, by which
// Google's ADK says that a function call asks for a credential.
func (c *collector) member(depth int) {
	s := c.s
	name := s.Name()
	switch {
	case depth == inMessage && string(name) == "extensions":
		s.Skip()
	case string(name) == "name" && s.Kind() == '"':
		text := string(s.Text())
		c.authorization = c.authorization || text == "adk_request_credential" // Google's ADK, as a function call
		c.text(anything, text)
	default:
		c.value(c.senseOf(name), depth+1)
	}
}

// senseOf knows a member by its name, in camelCase, snake_case or with hyphens.
func (c *collector) senseOf(name []byte) sense {
	var plain [32]byte
	n := 0
	for _, b := range name {
		if b == '-' || b == '_' {
			continue
		}
		if n == len(plain) {
			return anything
		}
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		plain[n] = b
		n++
	}
	switch string(plain[:n]) {
	case "audience", "audiences", "aud", "resource", "resources":
		return audience
	case "scope", "scopes", "requiredscopes":
		return scope
	case "authentication", "auth", "authconfig", "authrequest", "authrequests", "authscheme", "authschemes",
		"securityrequirements", "securityschemes", "wwwauthenticate", "resourcemetadata",
		"authorizationurl", "authurl", "authuri", "authorizationuri",
		"verificationuri", "verificationuricomplete", "devicecode":
		c.authorization = true
	}
	return anything
}

// text takes a string, wherever it stands: a link is one under any name.
func (c *collector) text(says sense, text string) {
	c.links.add(text)
	switch says {
	case audience:
		printable := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
		if text != "" && len(text) <= longestAudience && printable {
			c.d.Audiences = addOnce(c.d.Audiences, text, mostAudiences)
		}
	case scope:
		for word := range strings.FieldsSeq(text) {
			if len(word) <= longestScope && isScope(word) {
				c.d.Scopes = addOnce(c.d.Scopes, word, mostScopes)
			}
		}
	case anything:
	}
}

// isScope holds a word to RFC 6749 §3.3.
func isScope(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// addOnce keeps the order of appearance.
func addOnce(list []string, s string, most int) []string {
	if len(list) >= most || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
