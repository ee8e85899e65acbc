package translate

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// A webhook is the part of a push notification config that the versions agree
// about: url, token, authentication. What is around it they do not:
//
//	0.1              {"id":T,"pushNotificationConfig":{…}}
//	0.3              {"taskId":T,"pushNotificationConfig":{"id":C,…}}
//	0.3's ProtoJSON  {"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":C,…}}
//	1.0              {"taskId":T,"id":C,…}
//
// and a create is {"parent":"tasks/T","configId":C,"config":{"name":…,…}} to most
// servers of 0.3's ProtoJSON. Agents and callers are read in all of these forms.

var pushRules = []rule{
	{before1, only10, lost, "All but the first of a webhook's authentication `schemes`; `authentication` that has none."},
	{only10, before1, changed, "The authentication `scheme` becomes a list of one."},
	{only01, after01, added, "The id of a push notification config, which is its task's."},
	{after01, only01, lost, "The id of a push notification config: 0.1 has one per task, and a second replaces it."},
	{every, onlyP03, added, "The id of a push notification config to be created, if the caller gives none: its task's."},
	{kinded, proto, changed, "A get that names no push notification config becomes a list, of which the first is the answer; " +
		"`TASK_NOT_FOUND` if there is none."},
	{after01, only01, changed, "A list of push notification configs becomes a get, and has one entry."},
	{proto, onlyD03, lost, "Page size and token of a list of push notification configs: the agent gives all at once."},
	{onlyD03, only10, changed, "The pages of a list of push notification configs become one list, which the gateway completes."},
	{onlyD03, onlyP03, lost, "All but the first page of a list of push notification configs, if the agent pages."},
	{every, every, changed, "What a delete returns: null on JSON-RPC before 1.0, else `{}`."},
}

// config is a push notification config taken to pieces.
type config struct {
	webhook  []byte // the object with the url
	task, id string // "" where the source has none
}

// readConfig takes a config to pieces. The innermost id wins.
//
// At most three objects are inside each other: the create call of 0.3's ProtoJSON, the named config in
// it, and the webhook in that. A fourth would be somebody's own, and its ids mean nothing.
func readConfig(d dialect, raw []byte) config {
	var c config
	for range 3 { // no form is nested deeper
		if !isObject(raw) {
			return config{}
		}
		c.webhook = raw
		within := lookup(raw, "pushNotificationConfig", "push_notification_config", "config")
		if name := inside(lookup(raw, "name", "parent")); name != nil {
			c.named(string(name))
		}
		if task := inside(lookup(raw, "taskId", "task_id")); c.task == "" {
			c.task = string(task)
		}
		id := inside(lookup(raw, "id", "configId", "config_id"))
		switch {
		case len(id) == 0:
		case d != d01:
			c.id = string(id)
		case within != nil: // around 0.1's webhook it is the task's
			c.task = string(id)
		}
		if within == nil {
			return c
		}
		raw = within
	}
	return c
}

// A push notification config of 0.3's ProtoJSON is named after its task and itself.
const tasksPrefix, configsInfix = "tasks/", "/pushNotificationConfigs/"

// named reads a resource name of 0.3's ProtoJSON.
func (c *config) named(name string) {
	if task, id, ok := wire.ReadResourceName(name); ok {
		c.task, c.id = first(c.task, task), first(c.id, id)
	}
}

// first is the first string that is not empty.
func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// writeConfig writes a whole config as it stands in answers, and in the create calls of
// most versions.
//
//	0.1   {"id":"T","pushNotificationConfig":{"url":"https://c.example/hook"}}
//	0.3   {"taskId":"T","pushNotificationConfig":{"id":"C","url":"https://c.example/hook"}}
//	1.0   {"taskId":"T","id":"C","url":"https://c.example/hook"}
func writeConfig(w *writer, c config) {
	w.literal("{")
	switch w.to {
	case d10:
		w.string("taskId", c.task)
		w.string("id", c.id)
		writeWebhookMembers(w, c.webhook)
		if w.call != nil {
			w.tenant()
		}
	case p03:
		w.string("name", tasksPrefix+c.task+configsInfix+c.id)
	default:
		w.string(configObject.members[0].say[w.to], c.task)
	}
	if w.to != d10 {
		w.name("pushNotificationConfig")
		writeWebhook(w, c)
	}
	w.literal("}")
}

// writeCreate writes the params of a create call.
//
//	POST /v1/tasks/T/pushNotificationConfigs
//	{"parent":"tasks/T","configId":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{…}}}
//
// is what the servers for Python and Go read. The JavaScript SDK's reads the inner object alone and
// answers 400 to the other; it is tried second (To.Alternative).
func writeCreate(w *writer, c config) {
	if w.to != p03 || w.target.Alternative {
		writeConfig(w, c)
		return
	}
	w.literal("{")
	w.string("parent", tasksPrefix+c.task)
	w.string("configId", c.id)
	w.name("config")
	writeConfig(w, c)
	w.literal("}")
}

// writeWebhook writes the inner object.
func writeWebhook(w *writer, c config) {
	w.literal("{")
	if w.to != d01 {
		w.string("id", c.id)
	}
	writeWebhookMembers(w, c.webhook)
	w.literal("}")
}

// writeWebhookMembers writes everything but the ids and the tenant.
//
// Within a dialect, members that nobody here knows are kept, as an agent may define some of its own.
func writeWebhookMembers(w *writer, raw []byte) {
	if w.from != w.to {
		var v values
		webhookObject.gather(w.from, raw, &v)
		w.fields(webhookObject, &v)
		return
	}
	w.kept(webhookObject, raw, webhookObject.ids...)
}

// writeAuthentication says how the agent is to prove itself to the webhook. 1.0 has one
// scheme, others a list, of which the first is meant; a config without any needs no
// proof.
//
//	before 1.0   {"schemes":["Bearer","Basic"],"credentials":"t"}
//	1.0          {"scheme":"Bearer","credentials":"t"}
func writeAuthentication(w *writer, m *member, raw []byte) bool {
	if !isObject(raw) {
		w.broken("authentication is not an object")
		return false
	}
	if w.from != w.to && w.to == d10 && schemeOf(w, raw) == nil {
		return false
	}
	w.object(m.of, raw)
	return true
}

// schemeOf is the first of the schemes that an authentication object names, nil for
// none.
func schemeOf(w *writer, authentication []byte) []byte {
	raw := worth(lookup(authentication, "scheme", "schemes"))
	if isArray(raw) {
		for value := range elements(raw) {
			return worth(value)
		}
	}
	if !isString(raw) {
		return nil
	}
	return raw
}

// writeSchemes writes what kinds of proof there are; raw is a list, or one of them.
//
// An empty string counts as none: ProtoJSON writers that print every field write one.
func writeSchemes(w *writer, raw []byte) bool {
	switch {
	case w.to == d10 && isArray(raw):
		for value := range elements(raw) {
			w.raw(value)
			return true
		}
		return false
	case w.to == d10:
		w.raw(raw)
	case isArray(raw):
		w.raw(raw)
	default:
		w.literal("[")
		w.raw(worth(raw))
		w.literal("]")
	}
	return true
}
