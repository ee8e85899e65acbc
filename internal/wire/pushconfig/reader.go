package pushconfig

import (
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// The members of a config that are replaced, by their place in webhook.replace. Everything else
// is partNone, and stays.
const (
	partURL = iota
	partToken
	partAuth
	partNone
)

// hookParts are their names, which are the same in every version.
var hookParts = [...]string{partURL: "url", partToken: "token", partAuth: "authentication"}

// webhook is the object with the URL, and all its members in the order in which they stand: to cut
// one out, its neighbours have to be known.
type webhook struct {
	Config
	members          []hookMember
	singular, plural bool // how the authentication names its scheme
}

// hookMember is one member of that object.
type hookMember struct {
	part  int
	span  [2]int // of name and value
	value int    // where the value begins
}

// has reports whether the object has a member of that part.
func (h *webhook) has(part int) bool {
	for _, m := range h.members {
		if m.part == part {
			return true
		}
	}
	return false
}

// named is the config with its id, which some versions say around it.
//
//	{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"url":"u"}}   id C
func (h *webhook) named(at entry) Config {
	c := h.Config
	if c.ID == "" {
		c.ID = at.id
	}
	return c
}

// entry is one config with all that is around it. In {"taskId":"T","pushNotificationConfig":{…}} the
// task is said outside of the object with the URL, in 1.0 beside it; either is the entry's.
type entry struct {
	span     [2]int
	task, id string
	first    int // of its webhooks in pushReader.hooks
	hooks    int // how many objects with a URL it has; more than one is no config
}

// pushReader finds the configs of a document.
type pushReader struct {
	*jsonscan.Scanner
	version wire.Version
	strict  bool // the document is a call's: a name that is almost one of the table's is refused
	hooks   []webhook
	inline  entry   // of a send
	entries []entry // of an answer
}

// What members mean on the way to a config and in it.
const (
	fieldWebhookURL jsonscan.Field = 1 + iota
	fieldWebhookToken
	fieldWebhookAuth
	fieldScheme
	fieldSchemes
	fieldCredentials
	fieldInner    // a config inside of another object
	fieldConfigs  // a list of them
	fieldSettings // of a send
	fieldID       // the config's own, or in 0.1 the task's
	fieldConfigID
	fieldTaskID
	fieldResource // 0.3's proto: tasks/{task}/pushNotificationConfigs/{config}
)

var (
	hookNames = jsonscan.NewNames(map[string]jsonscan.Field{
		"url": fieldWebhookURL, "token": fieldWebhookToken, "authentication": fieldWebhookAuth,
		"id": fieldID, "configId": fieldConfigID, "taskId": fieldTaskID, "name": fieldResource, "parent": fieldResource,
		"pushNotificationConfig": fieldInner, "config": fieldInner, "configs": fieldConfigs,
	})
	authNames = jsonscan.NewNames(map[string]jsonscan.Field{
		"scheme": fieldScheme, "schemes": fieldSchemes, "credentials": fieldCredentials,
	})
	inlineNames = jsonscan.NewNames(map[string]jsonscan.Field{
		"pushNotificationConfig": fieldInner, "taskPushNotificationConfig": fieldInner, "pushNotification": fieldInner,
	})
	sendPushNames   = jsonscan.NewNames(map[string]jsonscan.Field{"configuration": fieldSettings})
	sendPushNames01 = jsonscan.NewNames(map[string]jsonscan.Field{
		"configuration": fieldSettings, "pushNotification": fieldInner,
	})
)

// means reads a member's name.
//
//	{"URL":"https://c.example/hook"}   in a call: refused. Go's parsers would read it as url, and it
//	                                   would reach the agent unreplaced.
func (r *pushReader) means(n *jsonscan.Names) jsonscan.Field {
	name := r.Name()
	sp, f := n.Find(name)
	if sp != nil && f == 0 && r.strict {
		r.Refuse(wire.Errorf(wire.InvalidParams, "a member's name is not quite %q", sp.Camel))
	}
	return f
}

// invalid refuses the document as InvalidParams. Of an answer, that becomes BadAgentResponse.
func (r *pushReader) invalid(what string) {
	r.Refuse(wire.Errorf(wire.InvalidParams, "Invalid parameters: %s", what))
}

// settings looks for inline configs in the params of a send, or in its configuration.
func (r *pushReader) settings(top bool) {
	table := inlineNames
	switch {
	case top && r.version == wire.V01:
		table = sendPushNames01
	case top:
		table = sendPushNames
	}
	for r.Enter(); r.More(); {
		switch f := r.means(table); {
		case r.Kind() != '{':
			r.Skip()
		case f == fieldSettings:
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
		case fieldID:
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
	case fieldConfigID:
		at.id = firstOf(r.word("the id of a push notification config"), at.id)
	case fieldTaskID:
		at.task = firstOf(r.word("the task of a push notification config"), at.task)
	case fieldResource:
		task, id, _ := wire.ReadResourceName(r.word("the name of a push notification config"))
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

// close takes what an object said that has ended. With a URL it is a webhook. Without one it is
// what is around a webhook, and its id is the config's (1.0, 0.3) or the task's (0.1); secrets
// there would reach the agent as they are, and are refused.
func (r *pushReader) close(at *entry, h webhook, id string) {
	switch {
	case h.has(partURL):
		h.ID = id
		r.hooks = append(r.hooks, h)
		at.hooks++
	case h.Token != "" || h.Scheme != "" || h.Credentials != "":
		r.invalid("a push notification config has no URL")
	case r.version == wire.V01: // around 0.1's webhook it is the task's
		at.task = firstOf(at.task, id)
	default:
		at.id = firstOf(at.id, id)
	}
}

// firstOf prefers what was said before, or nearer.
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
