package translate

import (
	"iter"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// writeConfigName writes the name of a config of an answer, with the caller's task in it.
//
//	"name":"tasks/T/pushNotificationConfigs/C"
func writeConfigName(w *writer, m *member, raw []byte) bool {
	if m.is != aConfigName || !isString(raw) {
		return false // answers have no tenant
	}
	rest, ok := strings.CutPrefix(string(inside(raw)), tasksPrefix)
	task, after, cut := strings.Cut(rest, "/")
	if !ok || w.task.caller(task) == task {
		w.raw(raw)
		return true
	}
	if cut {
		after = "/" + after
	}
	w.text(tasksPrefix + w.task.caller(task) + after)
	return true
}

// writeAnsweredConfig writes a config of an answer.
func writeAnsweredConfig(w *writer, raw []byte) {
	if w.from == w.to && w.from != d01 && w.from != d03 {
		w.object(configObject, raw)
		return
	}
	c := readConfig(w.from, raw)
	if c.webhook == nil {
		w.broken("a push notification config is not an object")
	}
	c.task = first(w.task.caller(c.task), w.task.known)
	c.id = first(c.id, w.configID)
	writeConfig(w, c)
}

// configList yields the configs of a list, in whatever form it is; 0.1's has one.
func configList(raw []byte) iter.Seq[[]byte] {
	list := lookup(raw, "configs")
	switch {
	case isArray(raw):
		list = raw
	case list == nil && lookup(raw, "pushNotificationConfig") != nil:
		return func(yield func([]byte) bool) { yield(raw) }
	}
	if !isArray(list) {
		return func(func([]byte) bool) {}
	}
	return elements(list)
}

// writeConfigs writes the answer of a list of push notification configs.
//
//	d03        [{"taskId":"T","pushNotificationConfig":{"id":"C",…}}]     a bare array
//	ProtoJSON  {"configs":[…],"nextPageToken":"p2"}
func writeConfigs(w *writer, result []byte) error {
	if w.from == w.to && w.from != d01 && w.from != d03 && isObject(result) {
		w.object(configsObject, result)
		return nil
	}
	if w.to != d03 {
		w.literal("{")
		w.name("configs")
	}
	w.literal("[")
	for raw := range configList(result) {
		w.comma()
		writeAnsweredConfig(w, raw)
	}
	w.literal("]")
	if w.to != d03 {
		w.name("nextPageToken")
		if token := lookup(result, "nextPageToken", "next_page_token"); isString(token) {
			w.raw(token)
		} else {
			w.word("")
		}
		w.literal("}")
	}
	return nil
}

// config writes the one config that was asked for. Where the target must be asked
// for one by its id and the caller gave none, the answer is a list; see Request.
//
//	0.1            {"id":"T","pushNotificationConfig":{"url":"…"}}
//	0.3 JSON-RPC   {"taskId":"T","pushNotificationConfig":{"id":"C","url":"…"}}
//	0.3 ProtoJSON  {"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"…"}}
//	1.0            {"taskId":"T","id":"C","url":"…"}
func (r *Retelling) config(w *writer, result []byte) error {
	listed := isArray(result) || has(result, "configs") || r.Call.ConfigID == "" && (w.from == p03 || w.from == d10)
	if !listed || r.Call.Method.Does == wire.Creates {
		writeAnsweredConfig(w, result)
		return nil
	}
	for raw := range configList(result) {
		writeAnsweredConfig(w, raw)
		return nil
	}
	return wire.Errorf(wire.TaskNotFound, "push notification config not found")
}
