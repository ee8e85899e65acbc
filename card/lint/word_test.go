package lint

import (
	"strings"
	"testing"
)

// TestWords: what isWord has nobody look at, nothing would be found in. Words are put together of those
// that the lists are about.
func TestWords(t *testing.T) {
	t.Parallel()
	parts := []string{"", "a", "0", "data", "base64"}
	for _, p := range phrases {
		parts = append(parts, p.words...)
	}
	for _, mark := range marks {
		parts = append(parts, mark.prefix, mark.prefix+strings.Repeat("A1", mark.length))
	}
	tried := 0
	for _, a := range parts {
		for _, b := range parts {
			word := a + b
			if !isWord(word) {
				continue
			}
			tried++
			low := ASCIILower(word)
			if Clean(word) != word || SecretIn(word) >= 0 || hasUserinfo(low) || PrivateURL(low) >= 0 || PrivateHostPort(low) >= 0 ||
				instruction(word) || lookalike(word) != "" || markup.MatchString(word) || blob(word) > 0 {
				t.Errorf("%q is a word, and something is found in it", word)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("%d words were tried", tried)
	}
	for _, mark := range marks {
		if mark.length <= longestWord && isWord(mark.prefix+strings.Repeat("A", mark.length)) {
			t.Errorf("a key that begins with %s is taken for a word", mark.prefix)
		}
	}
}
