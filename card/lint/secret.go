package lint

import (
	"iter"
	"strings"
)

// KeyMark ends the first line of a PEM private key of any kind. The key itself follows in
// words of its own.
const KeyMark = "PRIVATE KEY-----"

// marks begin what is a credential by its form: prefixes that providers give their keys so that
// scanners find them, the gateway's own among them, and the beginnings of JSON Web Tokens. What
// must follow is as long as their keys at least, so that a text about a prefix is none.
var marks = [...]struct {
	prefix string
	length int // of what follows, at least
}{
	{"AKIA", 16}, {"ASIA", 16}, {"AIza", 35}, {"ya29.", 20},
	{"ghp_", 36}, {"gho_", 36}, {"ghs_", 36}, {"ghu_", 36}, {"ghr_", 36}, {"github_pat_", 22}, {"glpat-", 20},
	{"xoxa-", 10}, {"xoxb-", 10}, {"xoxp-", 10}, {"xoxr-", 10}, {"xoxs-", 10}, {"xapp-", 10},
	{"sk-", 32}, {"sk_live_", 16}, {"rk_live_", 16}, {"npm_", 36}, {"pypi-", 50}, {"hf_", 30}, {"SG.", 60},
	{"AGE-SECRET-KEY-1", 50}, {"a2a_", 44}, {"eyJhbGci", 32}, {"eyJ0eXAi", 32}, {"eyJraWQi", 32},
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
				if i > 0 && isTokenByte(s[i-1]) || !isToken(s[at:], mark.length) {
					continue
				}
				for at < len(s) && isTokenByte(s[at]) {
					at++
				}
				if !yield(i, at) {
					return
				}
			}
		}
	}
}

// isToken reports whether s begins with at least n bytes that keys are made of. It looks at no more
// than those: a key may go on for as long as it likes.
func isToken(s string, n int) bool {
	for i := range n {
		if i == len(s) || !isTokenByte(s[i]) {
			return false
		}
	}
	return true
}

// isTokenByte accepts what the keys of all providers on the list are made of.
func isTokenByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
