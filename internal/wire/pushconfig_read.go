package wire

import "github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

// The members of a config that are replaced, by their place in webhook.replace.
const (
	partURL = iota
	partToken
	partAuth
	partNone
)

var hookParts = [...]string{partURL: "url", partToken: "token", partAuth: "authentication"}

// webhook is the object with the URL.
type webhook struct {
	PushConfig
	members          []hookMember
	singular, plural bool // how the authentication names its scheme
}

// hookMember is one member of that object.
type hookMember struct {
	part  int
	span  [2]int // of name and value
	value int    // where the value begins
}

func (h *webhook) has(part int) bool {
	for _, m := range h.members {
		if m.part == part {
			return true
		}
	}
	return false
}

// named is the config with its id, which some versions say around it.
func (h *webhook) named(at entry) PushConfig {
	c := h.PushConfig
	if c.ID == "" {
		c.ID = at.id
	}
	return c
}

// entry is one config with all that is around it.
type entry struct {
	span     [2]int
	task, id string
	first    int // of its webhooks in pushReader.hooks
	hooks    int
}

// pushReader finds the configs of a document.
type pushReader struct {
	*jsonscan.Scanner
	version Version
	strict  bool // the document is a call's: a name that is almost one of the table's is refused
	hooks   []webhook
	inline  entry   // of a send
	entries []entry // of an answer
}

// What members mean on the way to a config and in it.
const (
	fieldWebhookURL jsonscan.Field = fieldStrayObject + 1 + iota
	fieldWebhookToken
	fieldWebhookAuth
	fieldScheme
	fieldSchemes
	fieldCredentials
	fieldInner
	fieldConfigs
)

var (
	hookNames = newNames(InvalidParams, map[string]jsonscan.Field{
		"url": fieldWebhookURL, "token": fieldWebhookToken, "authentication": fieldWebhookAuth,
		"id": fieldRequestID, "configId": fieldConfig, "taskId": fieldTask, "name": fieldName, "parent": fieldName,
		"pushNotificationConfig": fieldInner, "config": fieldInner, "configs": fieldConfigs,
	})
	authNames = newNames(InvalidParams, map[string]jsonscan.Field{
		"scheme": fieldScheme, "schemes": fieldSchemes, "credentials": fieldCredentials,
	})
	inlineNames = newNames(InvalidParams, map[string]jsonscan.Field{
		"pushNotificationConfig": fieldInner, "taskPushNotificationConfig": fieldInner, "pushNotification": fieldInner,
	})
	sendPushNames   = newNames(InvalidParams, map[string]jsonscan.Field{"configuration": fieldConfiguration})
	sendPushNames01 = newNames(InvalidParams, map[string]jsonscan.Field{
		"configuration": fieldConfiguration, "pushNotification": fieldInner,
	})
)

// means reads a member's name.
func (r *pushReader) means(n *names) jsonscan.Field {
	name := r.Name()
	sp, f := n.Find(name)
	if sp != nil && f == fieldNone && r.strict {
		r.Refuse(Errorf(InvalidParams, "a member's name is not quite %q", sp.Camel))
	}
	return f
}

func (r *pushReader) invalid(what string) {
	r.Refuse(Errorf(InvalidParams, "Invalid parameters: %s", what))
}

// settings looks for inline configs in the params of a send, or in its configuration.
func (r *pushReader) settings(top bool) {
	table := inlineNames
	switch {
	case top && r.version == V01:
		table = sendPushNames01
	case top:
		table = sendPushNames
	}
	for r.Enter(); r.More(); {
		switch f := r.means(table); {
		case r.Kind() != '{':
			r.Skip()
		case f == fieldConfiguration:
			r.settings(false)
		case f == fieldInner:
			r.config(&r.inline)
		default:
			r.Skip()
		}
	}
}

// config reads a config or what is wrapped around one.
func (r *pushReader) config(at *entry) {
	var h webhook
	var id string
	r.Enter()

	for r.More() {
		r.Kind()
		from := r.Pos
		f := r.means(hookNames)
		r.Kind()
		m := hookMember{part: partNone, value: r.Pos}
		switch f {
		case fieldWebhookURL:
			m.part, h.URL = partURL, r.word("the URL of a push notification config")
		case fieldWebhookToken:
			m.part, h.Token = partToken, r.word("the token of a push notification config")
		case fieldWebhookAuth:
			m.part = partAuth
			r.authentication(&h)
		case fieldRequestID:
			id = r.word("the id of a push notification config")
		default:
			r.around(f, at)
		}
		m.span = [2]int{from, r.Pos}
		h.members = append(h.members, m)
	}
	r.close(at, h, id)
}

// around reads the members that say whose config it is, and those with one inside.
func (r *pushReader) around(f jsonscan.Field, at *entry) {
	switch f {
	case fieldConfig:
		at.id = firstOf(r.word("the id of a push notification config"), at.id)
	case fieldTask:
		at.task = firstOf(r.word("the task of a push notification config"), at.task)
	case fieldName:
		task, id, _ := ReadResourceName(r.word("the name of a push notification config"))
		at.task, at.id = firstOf(task, at.task), firstOf(id, at.id)
	case fieldInner:
		if r.Kind() == '{' {
			r.config(at)
		} else {
			r.Skip()
		}
	case fieldConfigs:
		if r.Kind() == '[' && !r.strict {
			r.list()
		} else {
			r.Skip()
		}
	default:
		r.Skip()
	}
}

// close takes what an object said.
func (r *pushReader) close(at *entry, h webhook, id string) {
	switch {
	case h.has(partURL):
		h.ID = id
		r.hooks = append(r.hooks, h)
		at.hooks++
	case h.Token != "" || h.Scheme != "" || h.Credentials != "":
		r.invalid("a push notification config has no URL")
	case r.version == V01: // around 0.1's webhook it is the task's
		at.task = firstOf(at.task, id)
	default:
		at.id = firstOf(at.id, id)
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// word reads a string, or null for none.
func (r *pushReader) word(what string) string {
	switch r.Kind() {
	case '"':
		return string(r.Text())
	case 'n':
	default:
		r.invalid(what + " is not a string")
	}
	r.Skip()
	return ""
}

// authentication reads how the sender proves itself.
func (r *pushReader) authentication(h *webhook) {
	if r.Kind() != '{' {
		if r.Kind() != 'n' {
			r.invalid("the authentication of a push notification config is not an object")
		}
		r.Skip()
		return
	}
	for r.Enter(); r.More(); {
		switch r.means(authNames) {
		case fieldScheme:
			h.singular = true
			h.Scheme = firstOf(r.word("a scheme"), h.Scheme)
		case fieldSchemes:
			h.plural = true
			h.Scheme = firstOf(h.Scheme, r.schemes())
		case fieldCredentials:
			h.Credentials = r.word("the credentials of a push notification config")
		default:
			r.Skip()
		}
	}
}

// schemes is the first of a list.
func (r *pushReader) schemes() (first string) {
	if r.Kind() != '[' {
		if r.Kind() != 'n' {
			r.invalid("schemes is not an array")
		}
		r.Skip()
		return ""
	}
	for r.Enter(); r.More(); {
		first = firstOf(first, r.word("a scheme"))
	}
	return first
}
