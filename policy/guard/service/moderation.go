package service

import "github.com/go-json-experiment/json"

// askModeration is the body of POST /v1/moderations.
func askModeration(c *Config, _ *Question, p passage) (string, any) {
	texts := make([]string, len(p))
	for i := range p {
		texts[i] = p[i].value
	}
	return "/moderations", struct {
		Model string   `json:"model,omitempty"`
		Input []string `json:"input"`
	}{c.Model, texts}
}

// parseModeration reads one result for each text. One that is flagged without a category is found as
// flagged.
func parseModeration(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	var a struct {
		Results []struct {
			Flagged    *bool           `json:"flagged"`
			Categories map[string]bool `json:"categories"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Results) != len(p) {
		return nil, errAnswer
	}
	for i, r := range a.Results {
		if r.Flagged == nil {
			return nil, errAnswer
		}
		text, before := p[i:i+1], len(found)
		for name, is := range r.Categories {
			if is {
				found = append(found, text.all(name)...)
			}
		}
		if *r.Flagged && len(found) == before {
			found = append(found, text.all("flagged")...)
		}
	}
	return found, nil
}
