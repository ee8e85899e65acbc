package lint

import (
	"iter"
	"strings"
)

// KeyMark ends the first line of a PEM private key of any kind. The key itself follows in
// words of its own.
const KeyMark = "PRIVATE KEY-----"

// shape is what the keys of a provider have that words with the same beginning have not.
type shape uint8

const (
	solid   shape = 1 << iota // letters and digits alone, as long as the key has to be
	digit                     // a digit among them
	slashed                   // also the characters of base64 and of paths
)

// marks begin what is a credential by its form: prefixes that providers give their keys so that
// scanners find them, the gateway's own among them, and the beginnings of JSON Web Tokens. What
// must follow is as long as their keys at least, so that a text about a prefix is none.
var marks = [...]struct {
	prefix string
	length int // of what follows, at least
	shape  shape
}{
	{"AKIA", 16, solid}, {"ASIA", 16, solid}, {"AIza", 35, 0}, {"ya29.", 20, 0},
	{"ghp_", 36, solid}, {"gho_", 36, solid}, {"ghs_", 36, solid}, {"ghu_", 36, solid}, {"ghr_", 36, solid},
	{"github_pat_", 22, solid}, {"glpat-", 20, digit},
	{"xoxa-", 10, digit}, {"xoxb-", 10, digit}, {"xoxp-", 10, digit}, {"xoxr-", 10, digit}, {"xoxs-", 10, digit}, {"xapp-", 10, digit},
	{"sk-", 32, digit}, {"sk_live_", 16, solid}, {"rk_live_", 16, solid}, {"sk_test_", 16, solid}, {"whsec_", 24, solid},
	{"npm_", 36, solid}, {"pypi-", 50, 0}, {"hf_", 30, solid}, {"SG.", 60, 0}, {"dop_v1_", 64, solid}, {"shpat_", 32, solid},
	{"dckr_pat_", 27, digit}, {"AGE-SECRET-KEY-1", 50, solid}, {"a2a_", 44, digit},
	{"eyJhbGci", 32, 0}, {"eyJ0eXAi", 32, 0}, {"eyJraWQi", 32, 0},
	{"hooks.slack.com/services/T", 30, slashed}, {"AccountKey=", 80, slashed}, {"SharedAccessKey=", 40, slashed},
}

// SecretIn finds what by its form is a credential that strayed into a card, -1 for none. Keys
// without a form of their own, such as plain hexadecimal, are not found: digests and ids look alike.
func SecretIn(s string) int {
	if i := strings.Index(s, KeyMark); i >= 0 {
		return i
	}
	for i := range Secrets(s) {
		return i
	}
	return -1
}

// Secrets are where what by its form is a credential begins and ends, in no order. Private
// keys are not among them.
func Secrets(s string) iter.Seq2[int, int] {
	return func(yield func(begin, end int) bool) {
		for _, mark := range marks {
			for at := 0; ; {
				i := strings.Index(s[at:], mark.prefix)
				if i < 0 {
					break
				}
				i += at
				at = i + len(mark.prefix)
				if i > 0 && isAlnum(s[i-1]) && mark.shape&slashed == 0 || !mark.shape.follows(s[at:], mark.length) {
					continue
				}
				for at < len(s) && mark.shape.takes(s[at]) {
					at++
				}
				if !yield(i, at) {
					return
				}
			}
		}
	}
}

// follows reports whether s begins with at least n bytes that keys of the shape are made of. It looks at no
// more than those: a key may go on for as long as it likes. One character again and again stands for a key.
func (h shape) follows(s string, n int) bool {
	digits, others := false, false
	for i := range n {
		if i == len(s) || !h.takes(s[i]) || h&solid != 0 && !isAlnum(s[i]) {
			return false
		}
		digits, others = digits || s[i] <= '9' && s[i] >= '0', others || s[i] != s[0]
	}
	return others && (digits || h&digit == 0)
}

// takes accepts what keys of the shape are made of.
func (h shape) takes(c byte) bool {
	return isTokenByte(c) || h&slashed != 0 && (c == '/' || c == '+' || c == '=')
}

func isAlnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// isTokenByte accepts what the keys of all providers on the list are made of.
func isTokenByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || isAlnum(c)
}
