package redact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// span is what a detector found in a text, in bytes: from begin to before end.
type span struct{ begin, end int }

// detector finds something in texts: by its form alone, without asking anybody what it is.
// The order of the table matters: a private key holds base64 in which others would find something,
// too.
type detector struct {
	name  string // in the configuration
	shown string // in the place of what it finds
	find  func(text string) []span
}

// all are the detectors there are. Where two find the same, the first one's word stands. What is
// shown says what was there, so that a reader of the log can tell a redaction from the caller's text.
var all = [...]detector{
	{"privateKey", "[private key]", privateKeys},
	{"key", "[key]", apiKeys},
	{"token", "[token]", tokens},
	{"card", "[card]", cards},
	{"email", "[email]", emails},
}

// detectors finds those of a configuration: all of them unless it names some, or says none.
// nil is "not configured", and is all; an empty list is not nil and is none of them.
func detectors(names []string) ([]detector, error) {
	if names == nil {
		return all[:], nil
	}
	if slices.Equal(names, []string{"none"}) {
		return nil, nil
	}
	for i, name := range names {
		if !slices.ContainsFunc(all[:], func(d detector) bool { return d.name == name }) {
			return nil, keypath.At(keypath.Point(fmt.Errorf("%q is none of email, card, token, key and privateKey, or none alone", name), i), "detectors")
		}
	}
	return slices.DeleteFunc(slices.Clone(all[:]), func(d detector) bool { return !slices.Contains(names, d.name) }), nil
}

// Text is a text without what the detectors find, and how much that was.
// Findings that overlap are one, from the beginning of the first to the end of the last.
func (r *Redactor) Text(s string) (clean string, count int) {
	type found struct {
		span
		by int
	}
	var every []found
	for i, d := range r.detect {
		for _, at := range d.find(s) {
			every = append(every, found{at, i})
		}
	}
	if len(every) == 0 {
		return s, 0
	}
	// By place, and at one place in the order of the table.
	slices.SortFunc(every, func(a, b found) int { return cmp.Or(a.begin-b.begin, a.by-b.by) })
	var out strings.Builder
	at := 0
	for i := 0; i < len(every); {
		one := every[i]
		for i++; i < len(every) && every[i].begin < one.end; i++ {
			one.end = max(one.end, every[i].end)
			one.by = min(one.by, every[i].by)
		}
		out.WriteString(s[at:one.begin])
		out.WriteString(r.detect[one.by].shown)
		at = one.end
		count++
	}
	out.WriteString(s[at:])
	return out.String(), count
}

const (
	longestLocal  = 320 // of an address, with room for what is percent-encoded
	longestDomain = 255
)

// emails finds addresses, also those whose @ is encoded as in URLs.
// It takes more than RFC 5322 allows: a text too much that is taken out is better than an address
// that stays. It looks for the @ and then to both sides, because most texts have none, and are
// done with at the speed of a search for a byte.
func emails(s string) (found []span) {
	for i := 0; i < len(s); i++ {
		size := 0
		switch {
		case s[i] == '@':
			size = 1
		case strings.HasPrefix(s[i:], "%40"):
			size = 3
		default:
			continue
		}
		begin, end := i, i+size
		// The bounds keep the time linear in a text that is nothing but letters and @ signs.
		for begin > 0 && i-begin < longestLocal && isLocal(s[begin-1]) {
			begin--
		}
		for end < len(s) && end-i < longestDomain && isDomain(s[end]) {
			end++
		}
		domain := strings.TrimRight(s[i+size:end], ".-")
		if begin < i && strings.IndexByte(domain, '.') > 0 {
			found = append(found, span{begin, i + size + len(domain)})
		}
	}
	return found
}

func isLocal(c byte) bool { return isWord(c) || strings.IndexByte(".%+-!#$&'*/=?^`{|}~", c) >= 0 }

func isDomain(c byte) bool { return isWord(c) && c != '_' || c == '.' || c == '-' }

// isWord takes every character that is not ASCII for a letter, as addresses and domains of other
// scripts have them (RFC 6531).
func isWord(c byte) bool { return isAlnum(c) || c == '_' || c >= 0x80 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
