package service

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// template is the name of one of Model Armor's, of which nothing has to be escaped in a path.
var template = regexp.MustCompile(`^projects/[a-z0-9:.-]+/locations/[a-z0-9-]+/templates/[A-Za-z0-9_-]+$`)

// checkModelArmor says what is wrong with the keys of use modelArmor.
func checkModelArmor(c *Config, wrong func(key, format string, args ...any)) {
	if !template.MatchString(c.Template) {
		wrong("template", "%q is not projects/PROJECT/locations/LOCATION/templates/TEMPLATE", c.Template)
	}
}

// armorData is a DataItem.
type armorData struct {
	Text string `json:"text"`
}

// askModelArmor is the body of a template's sanitizeUserPrompt, and of sanitizeModelResponse for what
// agents say.
func askModelArmor(c *Config, q *Question, p passage) (string, any) {
	if q.Phase == hook.Request {
		return "/v1/" + c.Template + ":sanitizeUserPrompt", struct {
			Data armorData `json:"userPromptData"`
		}{armorData{p.String()}}
	}
	return "/v1/" + c.Template + ":sanitizeModelResponse", struct {
		Data armorData `json:"modelResponseData"`
	}{armorData{p.String()}}
}

// What filters say.
const (
	armorMatch   = "MATCH_FOUND"
	armorNone    = "NO_MATCH_FOUND"
	armorSuccess = "SUCCESS"
)

// armorFilter is what one filter says, whichever it is: their results have members of the same names.
// That of Sensitive Data Protection has one of two results in it.
type armorFilter struct {
	armorState
	Types map[string]armorState `json:"raiFilterTypeResults"`
	URIs  []struct {
		URI string `json:"uri"`
	} `json:"maliciousUriMatchedItems"`
	Inspect *struct {
		armorState
		Findings  []armorFinding `json:"findings"`
		Truncated bool           `json:"findingsTruncated"`
	} `json:"inspectResult"`
	Deidentify *struct {
		armorState
		Types []string `json:"infoTypes"`
	} `json:"deidentifyResult"`
}

type armorState struct {
	Match string `json:"matchState"`
}

// armorFinding is an SdpFinding. Its numbers are of 64 bits, which JSON of protocol buffers has as texts;
// a zero is left out.
type armorFinding struct {
	Type  string `json:"infoType"`
	Place struct {
		Bytes struct {
			Start string `json:"start"`
			End   string `json:"end"`
		} `json:"byteRange"`
	} `json:"location"`
}

// errPartial is about an answer of filters some of which did not look, as at texts that are too long.
var errPartial = errors.New("some of its filters have not looked at the text")

// parseModelArmor reads what each filter of a template has matched. That some filters were left out is a
// failure if the others match nothing.
func parseModelArmor(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	var a struct {
		Result struct {
			Match      string                            `json:"filterMatchState"`
			Invocation string                            `json:"invocationResult"`
			Filters    map[string]map[string]armorFilter `json:"filterResults"`
		} `json:"sanitizationResult"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Result.Match != armorMatch && a.Result.Match != armorNone {
		return nil, errAnswer
	}
	for name, results := range a.Result.Filters {
		for _, r := range results {
			list, ok := r.found(name, p)
			if !ok {
				return nil, errAnswer
			}
			found = append(found, list...)
		}
	}
	switch {
	case found == nil && a.Result.Match == armorMatch:
		return p.all("match"), nil // by a filter that is newer than this
	case found == nil && a.Result.Invocation != armorSuccess:
		return nil, errPartial
	}
	return found, nil
}

// found is what a filter has matched: of some kinds where it says which.
func (f *armorFilter) found(name string, p passage) (found []Found, ok bool) {
	for kind, state := range f.Types {
		if state.Match == armorMatch {
			found = append(found, p.all(name+"."+kind)...)
		}
	}
	for _, item := range f.URIs {
		found = append(found, p.where(item.URI, name)...)
	}
	matched := f.Match == armorMatch
	if d := f.Deidentify; d != nil && d.Match == armorMatch {
		// The text that it proposes does not say what it has changed.
		matched = true
		for _, kind := range d.Types {
			found = append(found, p.all(name+"."+kind)...)
		}
	}
	if d := f.Inspect; d != nil && d.Match == armorMatch {
		matched = true
		for i := range d.Findings {
			places, ok := d.Findings[i].found(name, p)
			if !ok {
				return nil, false
			}
			found = append(found, places...)
		}
		if d.Truncated { // there are more, and nobody knows where
			found = append(found, p.all(name)...)
		}
	}
	if matched && found == nil {
		found = p.all(name)
	}
	return found, true
}

// found is where it is, if it says that.
func (f *armorFinding) found(name string, p passage) ([]Found, bool) {
	kind, bytes := name+"."+f.Type, f.Place.Bytes
	if bytes.End == "" {
		return p.all(kind), true
	}
	if bytes.Start == "" {
		bytes.Start = "0"
	}
	begin, errBegin := strconv.Atoi(bytes.Start)
	end, errEnd := strconv.Atoi(bytes.End)
	whole := p.String()
	if errBegin != nil || errEnd != nil || begin < 0 || begin >= end || end > len(whole) ||
		boundary(whole, begin) != begin || boundary(whole, end) != end { // half a character cannot be redacted
		return nil, false
	}
	return p.at(begin, end, kind), true
}
