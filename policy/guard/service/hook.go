package service

import (
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// hookDocument is the document of a callout: the texts of one part.
type hookDocument struct {
	Texts []string `json:"texts"`
}

func newHookDocument(p passage) (d hookDocument) {
	for i := range p {
		d.Texts = append(d.Texts, p[i].value)
	}
	return d
}

// askHook is a callout, as hooks of extensions are.
func askHook(_ *Config, q *Question, p passage) (string, any) {
	return "", struct {
		Phase    hook.Phase   `json:"phase"`
		Guard    string       `json:"guard"`
		Document hookDocument `json:"document"`
	}{q.Phase, q.guard, newHookDocument(p)}
}

// parseHook reads the answer to a callout. A document that has been changed has something in it where
// each text differs.
func parseHook(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	if len(answer) == 0 {
		return nil, nil // with status 204
	}
	was, err := json.Marshal(newHookDocument(p))
	if err != nil {
		return nil, errAnswer
	}
	is, err := (&hook.Callout{Document: was}).Settle(answer)
	if denied := new(hook.Denied); errors.As(err, &denied) {
		return p.all("denied"), nil
	}
	var d struct {
		Texts []*string `json:"texts"`
	}
	if err != nil || json.Unmarshal(is, &d, json.RejectUnknownMembers(true)) != nil || len(d.Texts) != len(p) || slices.Contains(d.Texts, nil) {
		return nil, errAnswer
	}
	for i := range p {
		if begin, end := changed(p[i].value, *d.Texts[i]); begin < end {
			found = append(found, Found{p[i].text, p[i].begin + begin, p[i].begin + end, "changed"})
		} else if p[i].value != *d.Texts[i] { // something was put in
			found = append(found, p[i:i+1].all("changed")...)
		}
	}
	return found, nil
}

// changed is the part of a text that is not in another, in whole characters.
func changed(was, is string) (begin, end int) {
	n := min(len(was), len(is))
	for begin < n && was[begin] == is[begin] {
		begin++
	}
	begin = boundary(was, begin)
	behind := 0
	for behind < n-begin && was[len(was)-1-behind] == is[len(is)-1-behind] {
		behind++
	}
	end = len(was) - behind
	for end < len(was) && !utf8.RuneStart(was[end]) {
		end++
	}
	return begin, end
}
