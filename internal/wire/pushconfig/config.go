package pushconfig

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Config is what a push notification config says, whatever its version says it in:
// where notifications go, and what the sender shows there.
type Config struct {
	ID          string // "" where it has none, or none yet
	URL         string // of the webhook, as it stands: it is checked by who calls it
	Token       string // sent back with each notification
	Scheme      string // of the Authorization header; the first where there are several
	Credentials string // what stands behind the scheme, such as a token of the webhook's owner
}

// Read reads the config that comes with a call: of a create, or inline in a
// send. c has been decoded. It is nil for a call that has none.
//
// It is stricter than decoding, because what it finds is replaced by other values: two
// places with a URL, or secrets without one, would reach the agent as they are in one
// of them. They are InvalidParams, as is a member that is not a string.
//
//	{"message":{…},"configuration":{"pushNotificationConfig":{"url":"https://c.example/hook","token":"t"}}}
//	Config{URL: "https://c.example/hook", Token: "t"}
func Read(c *wire.Call) (*Config, *wire.Error) {
	hook, e := findWebhook(c, c.Params)
	if hook == nil || e != nil {
		return nil, e
	}
	return &hook.Config, nil
}

// Replace puts another URL, token and authentication in the place of those in
// params, which are c.Params or made like them, and leaves every other byte as it is,
// unknown members among them. What is empty in the new config is taken out; so are
// members of the authentication that nobody here knows, which can be secrets. The id
// stays the caller's.
//
//	{"taskId":"T","url":"https://c.example/hook","token":"t"}             1.0, the caller's
//	{"taskId":"T","url":"https://gw.example/hooks/7","token":"s3cr3t"}    what the agent is given
func Replace(c *wire.Call, params []byte, by Config) ([]byte, *wire.Error) {
	hook, e := findWebhook(c, params)
	if e != nil {
		return nil, e
	}
	if hook == nil {
		return params, nil
	}
	return jsonscan.Spliced(params, hook.replace(nil, c.Version, by)), nil
}

// findWebhook finds the one config of a call's params.
func findWebhook(c *wire.Call, params []byte) (*webhook, *wire.Error) {
	if !c.HasPushConfig || c.Method == nil || c.Method.Extension != "" || len(params) == 0 {
		return nil, nil
	}
	r := newPushReader(params, c.Version)
	defer r.Release()
	r.strict = true
	switch {
	case r.Kind() != '{':
		r.Skip()
	case c.Method.Subject == wire.OfMessage:
		r.settings(true)
	default:
		r.config(&entry{})
	}
	if e := wire.Finish(r.Scanner); e != nil {
		return nil, e
	}
	switch len(r.hooks) {
	case 0:
		return nil, nil
	case 1:
		r.hooks[0].Config = r.hooks[0].named(r.inline)
		return &r.hooks[0], nil
	}
	return nil, wire.Errorf(wire.InvalidParams, "Invalid parameters: the push notification config is given twice")
}

// Rewrite shows the configs of an answer to by, one after another, and puts what
// that returns in their places. One that by says no to is cut out of a list; where it is
// the whole answer, the error is TaskNotFound. doc has been read by ReadAnswer and is
// not changed; b and v are of the agent. One without a URL is nobody's, and by is not
// asked about it.
//
// It is the way back: an agent that is asked for its configs answers with the gateway's URL and token,
// and the caller must read his own.
func Rewrite(
	b wire.Binding, v wire.Version, doc []byte, by func(task string, found Config) (Config, bool, error),
) ([]byte, error) {
	r := newPushReader(doc, v)
	defer r.Release()
	list := r.answer(b)
	if e := wire.Finish(r.Scanner); e != nil {
		return nil, wire.BadAnswer(e)
	}
	var cuts []jsonscan.Splice
	kept := 0
	for i, at := range r.entries {
		if at.hooks > 1 {
			return nil, &wire.Error{Kind: wire.BadAgentResponse, Err: errors.New("a push notification config has two URLs")}
		}
		if at.hooks == 1 {
			hook := &r.hooks[at.first]
			with, keep, err := by(at.task, hook.named(at))
			if err != nil {
				return nil, err
			}
			if keep {
				cuts = hook.replace(cuts, v, with)
				kept++
				continue
			}
		}
		if !list {
			return nil, wire.Errorf(wire.TaskNotFound, "push notification config not found")
		}
		cuts = append(cuts, jsonscan.Cutting(i, len(r.entries), kept, func(i int) [2]int { return r.entries[i].span }))
	}
	if len(cuts) == 0 {
		return doc, nil
	}
	return jsonscan.Spliced(doc, cuts), nil
}

// newPushReader is of a document in the words of a version. It reads a document that has been held to the limits that count.
func newPushReader(doc []byte, v wire.Version) *pushReader {
	return &pushReader{
		Scanner: wire.Rescan(doc), version: v,
	}
}

// replace adds the splices that make a config say what by says: a member that the new config has
// too gets its value, one that it has not is cut out with its comma, and one that was not there
// follows the URL, the only member that every config has.
//
//	{"url":"a","token":"t"}   without a token: {"url":"b"}
//	{"url":"a"}               with a token: {"url":"b","token":"t"}
func (h *webhook) replace(cuts []jsonscan.Splice, v wire.Version, by Config) []jsonscan.Splice {
	texts := [...]string{partURL: jsonString(by.URL), partToken: "", partAuth: h.authentication(v, by)}
	if by.Token != "" {
		texts[partToken] = jsonString(by.Token)
	}
	for part, text := range texts { // what is not there yet follows the URL, which is
		if text != "" && !h.has(part) {
			texts[partURL] += "," + jsonString(hookParts[part]) + ":" + text
		}
	}
	kept := 0
	for i, m := range h.members {
		switch {
		case m.part == partNone || texts[m.part] != "":
			kept++
		default:
			cuts = append(cuts, jsonscan.Cutting(i, len(h.members), kept, func(i int) [2]int { return h.members[i].span }))
			continue
		}
		if m.part != partNone {
			cuts = append(cuts, jsonscan.Splice{Start: m.value, End: m.span[1], Text: texts[m.part]})
		}
	}
	return cuts
}

// authentication is its value in the words of a version: those that the config has, as
// those of 1.0's release candidate are 0.3's.
//
//	before 1.0   {"schemes":["Bearer"],"credentials":"c"}
//	1.0          {"scheme":"Bearer","credentials":"c"}
func (h *webhook) authentication(v wire.Version, by Config) string {
	if by.Scheme == "" && by.Credentials == "" {
		return ""
	}
	scheme := `{"scheme":` + jsonString(by.Scheme)
	switch plural := h.plural || v != wire.V10 && !h.singular; {
	case plural && by.Scheme == "":
		scheme = `{"schemes":[]`
	case plural:
		scheme = `{"schemes":[` + jsonString(by.Scheme) + `]`
	}
	if by.Credentials != "" {
		scheme += `,"credentials":` + jsonString(by.Credentials)
	}
	return scheme + "}"
}

// jsonString quotes s; what is no UTF-8 in it is replaced.
func jsonString(s string) string {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return string(quoted)
}
