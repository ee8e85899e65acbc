// Package toolname names MCP tools after agents and their skills, and finds the two in a name again.
//
// A name has at most 64 characters, letters, digits, "_" and "-": fewer than MCP permits (128, and a
// dot), and as many as the model APIs behind hosts take. It is the same for as long as the ids are,
// at every replica and for every caller, and no two skills have one name:
//
//	billing, refund            billing__refund
//	billing, refund/partial    billing__refund-partial--mmj2x2d5ue
//
// The first form is the ids themselves. Where they hold other characters, are too long together, or
// could be read as another pair or as the second form, the name ends in a digest of both ids. Which
// agent and skill such a name is for can only be found among those that there are.
package toolname

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Max is the length of the longest name.
const Max = 64

const (
	between = "__" // the ids
	before  = "--" // the digest
	digits  = 10   // of a digest: 50 bits, and an agent can only look for equals among its own names
)

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Of is the name of an agent's skill. The agent's id is one that the configuration may have.
func Of(agent, skill string) string {
	if plain := agent + between + skill; len(plain) <= Max && plainAgent(agent) && tame(skill) && !digested(plain) {
		return plain
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + skill))
	name := clean(agent) + between + clean(skill)
	if most := Max - len(before) - digits; len(name) > most {
		name = name[:most]
	}
	return name + before + encoding.EncodeToString(sum[:])[:digits]
}

// Parse reads a name of the first form. It is not ok for one of the second, which is to be looked for
// (Digested), and for what is no name at all.
func Parse(name string) (agent, skill string, ok bool) {
	agent, skill, ok = strings.Cut(name, between)
	if !ok || Of(agent, skill) != name {
		return "", "", false
	}
	return agent, skill, true
}

// Digested reports whether a name has the second form.
func Digested(name string) bool { return len(name) <= Max && tame(name) && digested(name) }

// MayBe reports whether a name of the second form begins as those of an agent do.
func MayBe(name, agent string) bool {
	begin := clean(agent) + between
	most := Max - len(before) - digits
	return strings.HasPrefix(name, begin[:min(len(begin), most)])
}

// plainAgent reports whether the separator behind an agent's id is the first in the name.
func plainAgent(id string) bool {
	return tame(id) && !strings.Contains(id, between) && !strings.HasSuffix(id, "_")
}

// tame reports whether an id can stand in a name as it is.
func tame(id string) bool { return id != "" && clean(id) == id }

// clean puts "-" in the place of what cannot stand in a name.
func clean(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, id)
}

// digested reports whether a name ends as those do that have a digest.
func digested(name string) bool {
	at := len(name) - digits
	if at < len(before) || name[at-len(before):at] != before {
		return false
	}
	return strings.Trim(name[at:], "abcdefghijklmnopqrstuvwxyz234567") == ""
}
