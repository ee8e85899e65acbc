package wire

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
	*scanner
	version Version
	strict  bool // the document is a call's: a name that is almost one of the table's is refused
	hooks   []webhook
	inline  entry   // of a send
	entries []entry // of an answer
}

// What members mean on the way to a config and in it.
const (
	fieldWebhookURL field = fieldStrayObject + 1 + iota
	fieldWebhookToken
	fieldWebhookAuth
	fieldScheme
	fieldSchemes
	fieldCredentials
	fieldInner
	fieldConfigs
)

var (
	hookNames = newNames(InvalidParams, map[string]field{
		"url": fieldWebhookURL, "token": fieldWebhookToken, "authentication": fieldWebhookAuth,
		"id": fieldRequestID, "configId": fieldConfig, "taskId": fieldTask, "name": fieldName, "parent": fieldName,
		"pushNotificationConfig": fieldInner, "config": fieldInner, "configs": fieldConfigs,
	})
	authNames = newNames(InvalidParams, map[string]field{
		"scheme": fieldScheme, "schemes": fieldSchemes, "credentials": fieldCredentials,
	})
	inlineNames = newNames(InvalidParams, map[string]field{
		"pushNotificationConfig": fieldInner, "taskPushNotificationConfig": fieldInner, "pushNotification": fieldInner,
	})
	sendPushNames   = newNames(InvalidParams, map[string]field{"configuration": fieldConfiguration})
	sendPushNames01 = newNames(InvalidParams, map[string]field{
		"configuration": fieldConfiguration, "pushNotification": fieldInner,
	})
)

// means reads a member's name.
func (r *pushReader) means(n *names) field {
	name := r.name()
	sp, f := n.find(name)
	if sp != nil && f == fieldNone && r.strict {
		r.refuse(Errorf(InvalidParams, "a member's name is not quite %q", sp.camel))
	}
	return f
}

func (r *pushReader) invalid(what string) {
	r.refuse(Errorf(InvalidParams, "Invalid parameters: %s", what))
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
	for r.enter(); r.more(); {
		switch f := r.means(table); {
		case r.kind() != '{':
			r.skip()
		case f == fieldConfiguration:
			r.settings(false)
		case f == fieldInner:
			r.config(&r.inline)
		default:
			r.skip()
		}
	}
}

// config reads a config or what is wrapped around one.
func (r *pushReader) config(at *entry) {
	var h webhook
	var id string
	r.enter()

	for r.more() {
		r.space()
		from := r.pos
		f := r.means(hookNames)
		r.space()
		m := hookMember{part: partNone, value: r.pos}
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
		m.span = [2]int{from, r.pos}
		h.members = append(h.members, m)
	}
	r.close(at, h, id)
}

// around reads the members that say whose config it is, and those with one inside.
func (r *pushReader) around(f field, at *entry) {
	switch f {
	case fieldConfig:
		at.id = firstOf(r.word("the id of a push notification config"), at.id)
	case fieldTask:
		at.task = firstOf(r.word("the task of a push notification config"), at.task)
	case fieldName:
		task, id, _ := ReadResourceName(r.word("the name of a push notification config"))
		at.task, at.id = firstOf(task, at.task), firstOf(id, at.id)
	case fieldInner:
		if r.kind() == '{' {
			r.config(at)
		} else {
			r.skip()
		}
	case fieldConfigs:
		if r.kind() == '[' && !r.strict {
			r.list()
		} else {
			r.skip()
		}
	default:
		r.skip()
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
	switch r.kind() {
	case '"':
		return string(r.text())
	case 'n':
	default:
		r.invalid(what + " is not a string")
	}
	r.skip()
	return ""
}

// authentication reads how the sender proves itself.
func (r *pushReader) authentication(h *webhook) {
	if r.kind() != '{' {
		if r.kind() != 'n' {
			r.invalid("the authentication of a push notification config is not an object")
		}
		r.skip()
		return
	}
	for r.enter(); r.more(); {
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
			r.skip()
		}
	}
}

// schemes is the first of a list.
func (r *pushReader) schemes() (first string) {
	if r.kind() != '[' {
		if r.kind() != 'n' {
			r.invalid("schemes is not an array")
		}
		r.skip()
		return ""
	}
	for r.enter(); r.more(); {
		first = firstOf(first, r.word("a scheme"))
	}
	return first
}
