package pdp

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxReason bounds what records take of an authorizer's words, in bytes.
const maxReason = 256

// reason is what the context of a decision says for people. The specification leaves its
// members open; these are the ones of its examples. Whatever else stands there is left
// alone, also where it is of another type than expected.
func reason(context jsontext.Value) string {
	var said struct {
		Reason jsontext.Value `json:"reason"`
		Admin  jsontext.Value `json:"reason_admin"`
		Error  struct {
			Message jsontext.Value `json:"message"`
		} `json:"error"`
		ID jsontext.Value `json:"id"`
	}
	if len(context) == 0 {
		return ""
	}
	_ = json.Unmarshal(context, &said) // what was read before a mistake is as good as nothing
	// The more it says to people the earlier it is taken; an id is better than nothing.
	for _, v := range []jsontext.Value{said.Reason, said.Admin, said.Error.Message, said.ID} {
		if s := words(v); s != "" {
			return s
		}
	}
	return ""
}

// words is a text, or an object of texts by language, as one line.
func words(v jsontext.Value) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return printable(text)
	}
	var byLanguage map[string]string
	if json.Unmarshal(v, &byLanguage) != nil {
		return ""
	}
	if text, ok := byLanguage["en"]; ok {
		return printable(text)
	}
	// Without English the first by the alphabet, so that the same answer is always the same words.
	least := ""
	for language := range byLanguage {
		if least == "" || language < least {
			least = language
		}
	}
	return printable(byLanguage[least])
}

// printable is a text of somebody else's as it may stand in a record: one line, cut.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s[:min(len(s), maxReason)])
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}
