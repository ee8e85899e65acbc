package translate

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// param writes the value of a member that only params and push notification configs
// have.
func (w *writer) param(m *member, raw []byte) bool {
	switch m.is {
	case anAuthentication:
		return raw != nil && writeAuthentication(w, m, raw)
	case aScheme:
		return writeSchemes(w, raw)
	case aConfiguration, aModeList, aHistoryLength, aBlocking, aReturn, aPushConfig:
		return writeSetting(w, m, raw)
	}
	if w.call == nil {
		return writeConfigName(w, m, raw)
	}
	value := ""
	switch m.is {
	case aTenant:
		value = w.target.Tenant
	case aConfigID:
		value = w.call.ConfigID
	case aTaskName:
		value = tasksPrefix + w.task.known
	case aConfigName:
		value = tasksPrefix + w.task.known + configsInfix + w.call.ConfigID
	case aFilter, aPageToken:
		value = w.call.PageToken
		if m.is == aFilter {
			value = w.context.known
		}
		w.text(value)
		return value != ""
	}
	if w.inPath || value == "" {
		return false
	}
	w.text(value)
	return true
}

// tenant writes the tenant of the interface.
func (w *writer) tenant() {
	if !w.inPath {
		w.string("tenant", w.target.Tenant)
	}
}

// paramsOf is the table of a method's params; nil for the create call, whose params
// are a push notification config.
//
//	OfMessage   the send's, in all versions
//	OfTask      {"id":"T"}, in 0.3's proto {"name":"tasks/T"}; a cancel has metadata beside it
//	OfConfig    {"taskId":"T","id":"C"}, in 0.3 {"id":"T","pushNotificationConfigId":"C"}
//	OfCaller    1.0 alone
//	OfAgent     nothing but a tenant
func paramsOf(m *wire.Method) *object {
	switch {
	case m.Push && m.Does == wire.Creates:
		return nil
	case m.Cancels:
		return cancelParams
	case m.Push && m.Lists:
		return configsParams
	}
	switch m.Subject {
	case wire.OfMessage:
		return sendObject
	case wire.OfTask:
		return taskParams
	case wire.OfConfig:
		return configParams
	case wire.OfCaller:
		return listParams
	}
	return agentParams
}

// The two operations that stand for each other where a version lacks one, or an id.
const (
	getConfig   = "GetTaskPushNotificationConfig"
	listConfigs = "ListTaskPushNotificationConfigs"
)

// params writes the params of a call from the caller's.
//
//	0.1   {"id":"T","sessionId":"C","message":{…},"historyLength":2}
//	0.3   {"message":{"taskId":"T","contextId":"C",…},"configuration":{"historyLength":2,"blocking":true}}
//	1.0   {"message":{"taskId":"T","contextId":"C",…},"configuration":{"historyLength":2,"returnImmediately":false}}
func (w *writer) params(source []byte) {
	o := paramsOf(w.call.Method)
	if len(source) == 0 || isNull(source) {
		source = []byte("{}")
	}
	switch {
	case !isObject(source):
		w.broken("params is not an object")
		return
	case o == nil:
		writeCreate(w, config{webhook: readConfig(w.from, source).webhook, task: w.task.known, id: w.call.ConfigID})
		return
	}
	var v values
	o.gather(w.from, source, &v)
	switch o {
	case sendObject:
		readSettings(w, &v)
	case taskParams:
		w.settings.history = countOf(w, v[taskParamsHistory])
		if w.call.Binding == wire.HTTPJSON && string(v[taskParamsHistory]) == "0" {
			w.settings.history = new(int) // in a query, 0 is not the same as nothing
		}
	}
	if w.from == w.to {
		w.copy(o, source)
		return
	}
	w.literal("{")
	w.fields(o, &v)
	w.literal("}")
}

// inQuery are the query parameters that are values of params. Ids are not among
// them: they come with the call.
var inQuery = []struct {
	name, also string
	write      func(b *buffer, value string)
}{
	{name: "historyLength", write: (*buffer).digits},
	{name: "pageSize", write: (*buffer).digits},
	{name: "status", write: (*buffer).digits},
	// a2a-go's client has another name for it than its server.
	{name: "statusTimestampAfter", also: "lastUpdatedAfter", write: (*buffer).text},
	{name: "includeArtifacts", write: (*buffer).flag},
}

// paramsOfQuery makes params of the query of a GET.
func paramsOfQuery(q url.Values) []byte {
	w := buffer{out: []byte("{")}
	for _, p := range inQuery {
		if value := first(q.Get(p.name), q.Get(snakeCase(p.name)), q.Get(p.also)); value != "" {
			w.name(p.name)
			p.write(&w, value)
		}
	}
	return append(w.out, '}')
}

// digits writes a number, and what is none as a string: a state's name, or something
// that the reader will say no to.
func (b *buffer) digits(s string) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || len(s) > 1 && s[0] == '0' {
			b.text(s)
			return
		}
	}
	b.literal(s)
}

// flag writes a boolean, and what is none as a string, which the reader will say no to.
func (b *buffer) flag(s string) {
	if s == "true" || s == "false" {
		b.literal(s)
		return
	}
	b.text(s)
}

// queryOf makes the query of a GET from params, as far as a query can say them. What
// would stand for a header there is none of them: the caller would say by it what the
// gateway has settled with the agent.
func queryOf(doc []byte) string {
	q := make(url.Values)
	for raw, value := range members(doc) {
		name := string(unescaped(raw))
		if isObject(value) || isArray(value) || isNull(value) || isService(name) {
			continue
		}
		if isString(value) {
			value = inside(value)
		}
		q.Set(name, string(value))
	}
	return q.Encode()
}
