package service

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// chat is the body of POST /v1/chat/completions.
type chat struct {
	Model       string        `json:"model"`
	Messages    []chatMessage `json:"messages"`
	Temperature int           `json:"temperature"`
	MaxTokens   int           `json:"max_tokens"`

	// The policy of ShieldGemma's template: the one is for vLLM and SGLang, the other for TGI.
	Template  *chatTemplate `json:"chat_template_kwargs,omitempty"`
	Guideline string        `json:"guideline,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatTemplate struct {
	Guideline string `json:"guideline"`
}

const (
	chatPath    = "/chat/completions"
	chatTokens  = 64 // which is more than any verdict has
	chatOpening = "Please answer."
)

// newChat has a model judge the last message: of a user, or of an assistant for what agents say. A
// template of such a model wants a user to begin, and nobody knows what the agent was asked.
func newChat(c *Config, q *Question, p passage) chat {
	said := []chatMessage{{"user", p.String()}}
	if q.Phase != hook.Request {
		said = []chatMessage{{"user", chatOpening}, {"assistant", p.String()}}
	}
	return chat{Model: c.Model, Messages: said, MaxTokens: chatTokens}
}

// verdict is what a model says, if it is one answer.
func verdict(answer []byte) (string, error) {
	var a struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Choices) != 1 {
		return "", errAnswer
	}
	return strings.TrimSpace(a.Choices[0].Message.Content), nil
}

// checkModel says that a model is missing.
func checkModel(c *Config, wrong func(key, format string, args ...any)) {
	if c.Model == "" {
		wrong("model", "missing; say which model the service shall ask")
	}
}

// askLlamaGuard is the body of POST /v1/chat/completions: the model's own template has the question.
func askLlamaGuard(c *Config, q *Question, p passage) (string, any) {
	return chatPath, newChat(c, q, p)
}

// What a Llama Guard says of an unsafe text. Models that are fine-tuned have their own case and separators.
var (
	unsafe = regexp.MustCompile(`(?i)^unsafe\b`)
	hazard = regexp.MustCompile(`(?i)\bS[0-9]{1,3}\b`)
)

// parseLlamaGuard reads "safe", or "unsafe" and which hazards.
func parseLlamaGuard(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	said, err := verdict(answer)
	if err != nil {
		return nil, err
	}
	switch {
	case said == "safe":
		return nil, nil
	case !unsafe.MatchString(said):
		return nil, errAnswer
	}
	for _, name := range hazard.FindAllString(said, -1) {
		found = append(found, p.all(strings.ToUpper(name))...)
	}
	if found == nil {
		found = p.all("unsafe")
	}
	return found, nil
}
