package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Names of operations that only tests of this package single out.
const (
	createConfig = wire.CreatePushConfig
	deleteConfig = "DeleteTaskPushNotificationConfig"
)

// aliasPlace is where an object of params stands in a call.
type aliasPlace struct {
	object *object
	method string
	line   string // on HTTP+JSON, "" where it has none with a body
	around string // of the object's members, which stand at %s
	others string // members that must be there unless they are what is looked at: names and values
}

const aliasHello = `"messageId":"m" "role":"ROLE_USER" %s:[{"text":"go"}]`

// aliasPlaces are the places of every object that callers write, in a dialect.
func aliasPlaces(d dialect) []aliasPlace {
	say := func(o *object, row int) string { return o.members[row].say[d] }
	hello := fmt.Sprintf(aliasHello, `"`+say(messageObject, 4)+`"`)
	message := `"message":{` + strings.ReplaceAll(hello, " ", ",") + `}`
	hook := fmt.Sprintf(`{%s,"configuration":{%q:{%%s}}}`, message, say(settingsObject, setPush))
	authenticated := strings.Replace(hook, "%s", `"url":"u","authentication":{%s}`, 1)
	send, create, cancel := "POST /message:send", "POST /tasks/T/pushNotificationConfigs", "POST /tasks/T:cancel"
	created := `{"taskId":"T","id":"c",%s}`
	if d == p03 {
		send, create, cancel = "POST /v1/message:send", "POST /v1/tasks/T/pushNotificationConfigs", "POST /v1/tasks/T:cancel"
		created = `{"parent":"tasks/T","configId":"c","config":{"pushNotificationConfig":{%s}}}`
	}
	return []aliasPlace{
		{sendObject, wire.SendMessage, send, "{%s}", message},
		{settingsObject, wire.SendMessage, send, "{" + message + `,"configuration":{%s}}`, ""},
		{messageObject, wire.SendMessage, send, `{"message":{%s}}`, hello},
		{webhookObject, wire.SendMessage, send, hook, `"url":"u"`},
		{authenticationObject, wire.SendMessage, send, authenticated, ""},
		{webhookObject, createConfig, create, created, `"url":"u"`},
		{authenticationObject, createConfig, create, strings.Replace(created, "%s", `"url":"u","authentication":{%s}`, 1), ""},
		{cancelParams, wire.CancelTask, cancel, "{%s}", `"id":"T"`},
		{taskParams, wire.GetTask, "", "{%s}", `"id":"T"`},
		{configParams, getConfig, "", "{%s}", `"taskId":"T" "id":"c"`},
		{configParams, deleteConfig, "", "{%s}", `"taskId":"T" "id":"c"`},
		{configsParams, listConfigs, "", "{%s}", `"taskId":"T"`},
		{listParams, wire.ListTasks, "", "{%s}", ""},
		{agentParams, wire.GetExtendedAgentCard, "", "{%s}", ""},
	}
}

// aliasValues are values by the name of the member, in one spelling.
var aliasValues = map[string]string{
	"messageId": `"m"`, "contextId": `"C"`, "taskId": `"T"`, "role": `"ROLE_AGENT"`, "parts": `[{"text":"x"}]`,
	"content": `[{"text":"x"}]`, "metadata": `{"a":1}`, "extensions": `["urn:e"]`, "referenceTaskIds": `["r"]`,
	"message": `{"messageId":"n","role":"ROLE_USER"}`, "configuration": `{"historyLength":4}`, "tenant": `"x"`,
	"acceptedOutputModes": `["a/b"]`, "taskPushNotificationConfig": `{"url":"w"}`, "pushNotification": `{"url":"w"}`,
	"historyLength": `3`, "blocking": `true`, "returnImmediately": `true`, "url": `"w"`, "token": `"k"`,
	"authentication": `{"credentials":"y"}`, "scheme": `"Bearer"`, "schemes": `["Bearer"]`, "credentials": `"x"`, "id": `"T"`,
	"status": `"TASK_STATE_CANCELED"`, "pageSize": `5`, "pageToken": `"p"`, "statusTimestampAfter": `"2026-01-01T00:00:00Z"`,
	"includeArtifacts": `true`, "name": `"tasks/T"`,
}

// TestAliasesReachGRPC: what is read under another name, or in another word, than the
// proto's is what the agent gets: protobuf has one of each, and would drop the rest.
func TestAliasesReachGRPC(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]wire.Side{{rpc10, grpc10}, {http10, grpc10}, {http03, grpc03}} {
		for _, place := range aliasPlaces(dialectOf(pair[0])) {
			if pair[0].Binding == wire.HTTPJSON && place.line == "" {
				continue // has a query, which has its own table
			}
			t.Run(fmt.Sprint(pair[0], "/", place.method, "/", place.object.name), func(t *testing.T) {
				t.Parallel()
				place.check(t, pair[0], pair[1])
			})
		}
	}
}

// check goes through all names of the object's members.
func (place aliasPlace) check(t *testing.T, from, to wire.Side) {
	t.Helper()
	d := dialectOf(from)
	for _, s := range place.object.names[d] {
		m := place.object.members[s.at]
		name := m.say[d]
		value, ok := aliasValues[name]
		if !ok {
			t.Fatalf("no value for %s", name)
		}
		if m.is == aConfigID { // called as the task's elsewhere
			value = `"c"`
		}
		want, accepted := place.sent(t, from, to, name, value)
		if !accepted {
			t.Fatalf("%s: the call of the test is none", name)
		}
		if without, ok := place.sent(t, from, to, "", ""); ok && without == want && !m.is.ofCall() && m.is != aMessageID {
			t.Errorf("%s does not reach the agent: %s", name, want)
		}
		for _, value := range inOtherWords(m, value) {
			if got, ok := place.sent(t, from, to, s.name, value); ok && got != want {
				t.Errorf("%s: %s: the agent gets %s, want %s", s.name, value, got, want)
			}
		}
		if s.exact {
			continue
		}
		// Beside the dialect's own name, another says nothing.
		both := fmt.Sprintf(`{"a":1},%q:%s`, name, value)
		if got, ok := place.sent(t, from, to, s.name, both); ok && got != want {
			t.Errorf("%s and %s: the agent gets %s, want %s", s.name, name, got, want)
		}
	}
}

// inOtherWords are the same value as others write it.
func inOtherWords(m member, value string) []string {
	list := []string{value}
	var table []words
	switch m.is {
	case aRole:
		table = roles[:]
	case aState:
		table = states[:]
	case aScheme:
		return []string{`"Bearer"`, `["Bearer"]`}
	default:
		return list
	}
	n, _ := number(table, []byte(value))
	for _, word := range table[n] {
		list = append(list, `"`+word+`"`)
	}
	return append(list, fmt.Sprint(n))
}

// sent is the document of the message that an agent gets, where the call is one.
func (place aliasPlace) sent(t *testing.T, from, to wire.Side, name, value string) (string, bool) {
	t.Helper()
	var list []string
	if name != "" {
		list = append(list, fmt.Sprintf("%q:%s", name, value))
	}
	for other := range strings.SplitSeq(place.others, " ") {
		known, _, _ := strings.Cut(strings.Trim(other, `"`), `"`)
		s := place.object.find(dialectOf(from), []byte(name))
		if o := place.object.find(dialectOf(from), []byte(known)); other != "" && (s == nil || o == nil || s.at != o.at) {
			list = append(list, other)
		}
	}
	doc := fmt.Sprintf(place.around, strings.Join(list, ","))
	c, q, e := tryDecode(exchange{side: from, method: place.method, line: place.line, doc: doc})
	if e != nil {
		return "", false
	}
	out, e := Request(c, q, To{Side: to, Tenant: "t"})
	if e != nil {
		t.Errorf("%s: %v", doc, e)
		return "", false
	}
	var got wire.Call
	if e := got.DecodeGRPC(out.Call.Method, to.Version, out.Call.Message, "", wire.Limits{}); e != nil {
		t.Errorf("%s: %v", doc, e)
	}
	return string(got.Body), true
}
