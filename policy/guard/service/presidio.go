package service

import (
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// errAnswer is about an answer that is none to the question.
var errAnswer = errors.New("its answer is not one to the question")

// askPresidio is the body of POST /analyze. All texts are one, so that one question does for a message.
func askPresidio(c *Config, _ *Question, p passage) (string, any) {
	return "/analyze", struct {
		Text     string   `json:"text"`
		Language string   `json:"language"`
		Entities []string `json:"entities,omitempty"`
		Score    float64  `json:"score_threshold"`
	}{p.String(), cmp.Or(c.Language, "en"), c.Entities, float64(cmp.Or(c.Score, usualScore)) / 100}
}

// parsePresidio reads what was found. Places count characters and not bytes, and begin at the start of
// all texts.
func parsePresidio(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	var list []struct {
		Type  *string `json:"entity_type"`
		Start *int    `json:"start"`
		End   *int    `json:"end"`
	}
	if err := json.Unmarshal(answer, &list); err != nil || list == nil {
		return nil, errAnswer
	}
	at := offsets(p.String())
	for _, l := range list {
		if l.Type == nil || l.Start == nil || l.End == nil || *l.Start < 0 || *l.Start >= *l.End || *l.End >= len(at) {
			return nil, errAnswer
		}
		found = append(found, p.at(at[*l.Start], at[*l.End], *l.Type)...)
	}
	return found, nil
}

// offsets are where each character of a text begins, and the end.
func offsets(text string) []int {
	at := make([]int, 0, utf8.RuneCountInString(text)+1)
	for i := range text {
		at = append(at, i)
	}
	return append(at, len(text))
}

// longestName is how long a name of what was found may be: it stands in records.
const longestName = 64

// unnamed reports whether a character cannot stand in a name of what was found.
func unnamed(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_./", r)
}

// ownKind is the gateway's kind for a question without an answer, which no service may find.
const ownKind = "unavailable"

// plain is a service's name for what it found without what cannot stand in records.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unnamed(r) {
			return '_'
		}
		return r
	}, name)
}

// kindOf is the name under which records have what a service found.
func kindOf(name string) string {
	if name == ownKind {
		return name + "_"
	}
	name = plain(name)
	return name[:min(len(name), longestName)]
}
