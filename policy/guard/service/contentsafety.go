package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// contentSafetyVersion is the version of the API, which Azure wants in the query.
const contentSafetyVersion = "?api-version=2024-09-01"

// Severities of Azure AI Content Safety go from 0, which is harmless, to 7.
const (
	usualSeverity = 4 // medium
	mostSeverity  = 7
)

// harms are the categories of Azure AI Content Safety.
var harms = []string{"Hate", "SelfHarm", "Sexual", "Violence"}

// checkContentSafety says what is wrong with the keys of use contentSafety.
func checkContentSafety(c *Config, wrong func(key, format string, args ...any)) {
	for _, name := range c.Categories {
		if !slices.Contains(harms, name) {
			wrong("categories", "%q is none of %s", name, strings.Join(harms, ", "))
		}
	}
}

// askContentSafety is the body of text:analyze.
func askContentSafety(c *Config, _ *Question, p passage) (string, any) {
	return "/contentsafety/text:analyze" + contentSafetyVersion, struct {
		Text       string   `json:"text"`
		Categories []string `json:"categories,omitempty"`
		Output     string   `json:"outputType"`
	}{p.String(), c.Categories, "EightSeverityLevels"}
}

// parseContentSafety reads how severe a text is, by category.
func parseContentSafety(c *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	var a struct {
		Categories []struct {
			Category string `json:"category"`
			Severity *int   `json:"severity"`
		} `json:"categoriesAnalysis"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Categories) == 0 {
		return nil, errAnswer
	}
	for _, r := range a.Categories {
		if r.Severity == nil || *r.Severity < 0 || *r.Severity > mostSeverity {
			return nil, errAnswer
		}
		if *r.Severity >= cmp.Or(c.Severity, usualSeverity) {
			found = append(found, p.all(r.Category)...)
		}
	}
	return found, nil
}
