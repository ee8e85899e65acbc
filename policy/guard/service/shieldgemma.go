package service

import (
	"strings"
	"unicode"
)

// mostPolicy is how long a policy may be, in bytes.
const mostPolicy = 8 << 10

// checkShieldGemma says what is wrong with the keys of use shieldGemma.
func checkShieldGemma(c *Config, wrong func(key, format string, args ...any)) {
	checkModel(c, wrong)
	switch {
	case strings.TrimSpace(c.Policy) == "":
		wrong("policy", "missing; say what texts must not do")
	case len(c.Policy) > mostPolicy:
		wrong("policy", "longer than %d bytes", mostPolicy)
	}
}

// askShieldGemma is the body of POST /v1/chat/completions. The model's own template has the question, and
// a place for the policy.
func askShieldGemma(c *Config, q *Question, p passage) (string, any) {
	body := newChat(c, q, p)
	body.Guideline, body.Template = c.Policy, &chatTemplate{c.Policy}
	return chatPath, body
}

// parseShieldGemma reads the Yes or No that an answer begins with; the model may give reasons behind it.
func parseShieldGemma(_ *Config, _ *Question, p passage, answer []byte) ([]Found, error) {
	said, err := verdict(answer)
	if err != nil {
		return nil, err
	}
	word := said
	if i := strings.IndexFunc(said, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		word = said[:i]
	}
	switch word {
	case "Yes":
		return p.all("policy"), nil
	case "No":
		return nil, nil
	}
	return nil, errAnswer
}
