package service

import (
	"slices"

	"github.com/go-json-experiment/json"
)

// askModeration is the body of POST /v1/moderations.
func askModeration(c *Config, texts []string) ([]byte, error) {
	return json.Marshal(struct {
		Model string   `json:"model,omitempty"`
		Input []string `json:"input"`
	}{c.Model, texts})
}

// parseModeration reads one result for each text. A text that is flagged for no category that counts is
// none; one that is flagged without a category is found as flagged.
func parseModeration(c *Config, texts []string, answer []byte) ([]Found, error) {
	var a struct {
		Results []struct {
			Flagged    *bool           `json:"flagged"`
			Categories map[string]bool `json:"categories"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Results) != len(texts) {
		return nil, errAnswer
	}
	var found []Found
	for i, r := range a.Results {
		if r.Flagged == nil {
			return nil, errAnswer
		}
		var names []string
		for name, is := range r.Categories {
			if !is || c.Categories != nil && !slices.Contains(c.Categories, name) {
				continue
			}
			if !named(name) {
				return nil, errAnswer
			}
			names = append(names, name)
		}
		slices.Sort(names)
		if *r.Flagged && names == nil && c.Categories == nil {
			names = []string{"flagged"}
		}
		for _, name := range names {
			found = append(found, Found{Text: i, Kind: name})
		}
	}
	return found, nil
}
