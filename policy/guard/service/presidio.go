package service

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// errAnswer is about an answer that is none to the question.
var errAnswer = errors.New("its answer is not one to the question")

// between stands between two texts of one question. What Presidio finds across it is found in neither.
const between = "\n\n"

// askPresidio is the body of POST /analyze. All texts are one, so that one question does for a message.
func askPresidio(c *Config, texts []string) ([]byte, error) {
	score := c.Score
	if score == 0 {
		score = usualScore
	}
	return json.Marshal(struct {
		Text     string   `json:"text"`
		Language string   `json:"language"`
		Entities []string `json:"entities,omitempty"`
		Score    float64  `json:"score_threshold"`
	}{strings.Join(texts, between), cmp.Or(c.Language, "en"), c.Entities, float64(score) / 100})
}

// parsePresidio reads what was found. Places count characters and not bytes, and begin at the start of
// all texts.
func parsePresidio(_ *Config, texts []string, answer []byte) ([]Found, error) {
	var list []struct {
		Type  *string `json:"entity_type"`
		Start *int    `json:"start"`
		End   *int    `json:"end"`
	}
	if err := json.Unmarshal(answer, &list); err != nil || list == nil {
		return nil, errAnswer
	}
	whole := strings.Join(texts, between)
	at := offsets(whole)
	var found []Found
	for _, l := range list {
		if l.Type == nil || l.Start == nil || l.End == nil || *l.Start < 0 || *l.Start >= *l.End || *l.End >= len(at) || !named(*l.Type) {
			return nil, errAnswer
		}
		found = append(found, spread(texts, at[*l.Start], at[*l.End], *l.Type)...)
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Or(a.Text-b.Text, a.Begin-b.Begin, a.End-b.End) })
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

// spread is what stands from begin to end of all texts, in each of them.
func spread(texts []string, begin, end int, kind string) (found []Found) {
	start := 0
	for i, text := range texts {
		from, to := max(begin-start, 0), min(end-start, len(text))
		if from < to {
			found = append(found, Found{i, from, to, kind})
		}
		start += len(text) + len(between)
	}
	return found
}

// longestName is how long a name of what was found may be: it stands in records.
const longestName = 64

// named reports whether a service's name for what it found can stand in records.
func named(name string) bool {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_./", r)
	}
	return name != "" && len(name) <= longestName && !strings.ContainsFunc(name, other)
}
