package auditcmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// why is one refused call for people: which stage of the request path refused it, by which rule,
// the cause that the caller was not told, and what can be done about it.
//
//	2026-11-28T15:04:05Z alice on billing, SendMessage, skill refund: UNAUTHORIZED
//	  policy: rule support-only: groups: has none of [support]
//	  remedy: …
type why struct {
	call   *reader.Call
	why    *refusal.Refusal
	config string // for commands that can be pasted; "" where the log was named by its directory
}

// refusedCall is the call of a record, and why the gateway refused it; nil where it did not.
func refusedCall(e reader.Entry) (*reader.Call, *refusal.Refusal, error) {
	c, err := e.Call()
	if err != nil || c == nil {
		return nil, nil, err
	}
	return c, refusal.Of(c), nil
}

// print writes it in three lines. What a caller chose goes through verb.Cell.
func (w why) print(out io.Writer) error {
	c := w.call
	who := verb.Cell(cmp.Or(c.Principal, c.ClientIP, "somebody"))
	what := []string{cmp.Or(c.Method, "a request")}
	if c.Skill != "" {
		what = append(what, "skill "+c.Skill)
	}
	for i := range what {
		what[i] = verb.Cell(what[i])
	}
	on := ""
	if c.Agent != "" {
		on = " on " + verb.Cell(c.Agent)
	}
	_, err := fmt.Fprintf(out, "%s %s%s, %s: %s\n  %s: %s\n  remedy: %s\n", c.Start.Format("2006-01-02T15:04:05Z07:00"), who, on,
		strings.Join(what, ", "), verb.Cell(c.Reason), w.why.Stage, verb.Legible(w.cause()), verb.Legible(w.remedy()))
	return err
}

// cause is the rule or limit that decided, and the cause in the gateway's words.
func (w why) cause() string {
	c := w.call
	text := ""
	switch {
	case c.Limit != "":
		text = "limit " + c.Limit
	case c.Rule == "default" && c.Cause == "":
		text = "no rule allows it"
	case c.Rule == "default": // the cause says so
	case c.Rule != "" && c.Decision == "deny":
		text = "rule " + c.Rule
	}
	switch {
	case text == "":
		return cmp.Or(c.Cause, "no cause is on record")
	case strings.HasPrefix(c.Cause, text), c.Rule != "" && strings.HasPrefix(c.Cause, "denied by "+c.Rule+":"): // it names the rule or limit
		return c.Cause
	case c.Cause == "":
		return text
	}
	return text + ": " + c.Cause
}

// remedy is what can be done about it, by the operator or by the caller. Where the rules decided it ends with
// the command that shows what each of them says.
func (w why) remedy() string {
	if w.why.Remedy != refusal.ChangeRules {
		return w.why.Remedy
	}
	c := w.call
	ask := "a2a-gateway explain -c " + cmp.Or(w.config, "CONFIG")
	add := func(flag, value string) {
		if value != "" {
			ask += " --" + flag + " " + quoted(value)
		}
	}
	add("agent", c.Agent)
	add("subject", c.Principal)
	add("issuer", c.Issuer)
	for _, g := range c.Groups {
		add("group", g)
	}
	for _, s := range c.Scopes {
		add("scope", s)
	}
	add("method", c.Method)
	add("skill", c.Skill)
	if c.Skill == "" {
		ask += " --online" // the rules were asked about all skills of the card
	}
	return w.why.Remedy + "; what each rule says: " + ask
}

// quoted is a word as a shell takes it for one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+,", r)
	}
	if strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
