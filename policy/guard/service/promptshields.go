package service

import (
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// askPromptShields is the body of text:shieldPrompt. What callers send is a prompt; what agents say is a
// document to whoever reads it.
func askPromptShields(_ *Config, q *Question, p passage) (string, any) {
	var body struct {
		Prompt    string   `json:"userPrompt"`
		Documents []string `json:"documents"`
	}
	body.Documents = []string{}
	if q.Phase == hook.Request {
		body.Prompt = p.String()
	} else {
		body.Documents = []string{p.String()}
	}
	return "/contentsafety/text:shieldPrompt" + contentSafetyVersion, body
}

// parsePromptShields reads whether an attack was detected.
func parsePromptShields(_ *Config, q *Question, p passage, answer []byte) ([]Found, error) {
	type analysis struct {
		Attack *bool `json:"attackDetected"`
	}
	var a struct {
		Prompt    analysis   `json:"userPromptAnalysis"`
		Documents []analysis `json:"documentsAnalysis"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, errAnswer
	}
	is, kind := a.Prompt, "promptAttack"
	if q.Phase != hook.Request {
		if len(a.Documents) != 1 {
			return nil, errAnswer
		}
		is, kind = a.Documents[0], "documentAttack"
	}
	switch {
	case is.Attack == nil:
		return nil, errAnswer
	case *is.Attack:
		return p.all(kind), nil
	}
	return nil, nil
}
