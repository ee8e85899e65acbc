package proxytest

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// ExtensionURI is the extension whose content the tests look at. The usual card declares it.
const ExtensionURI = "urn:declared"

// Inline is a schema as the configuration has it.
func Inline(text string) schema.Source { return schema.Source{Inline: []byte(text)} }

// Words makes A2A's objects in the words of a side. more are further members.
type Words struct{ wire.Side }

// Proto reports whether the words are those of 0.3's proto.
func (s Words) Proto() bool { return s.Version == wire.V03 && s.Binding != wire.JSONRPC }

// Text is a part with a text.
func (s Words) Text(text, more string) string {
	switch s.Side {
	case RPC01:
		return fmt.Sprintf(`{"type":"text","text":%q%s}`, text, more)
	case RPC03:
		return fmt.Sprintf(`{"kind":"text","text":%q%s}`, text, more)
	}
	return fmt.Sprintf(`{"text":%q%s}`, text, more)
}

// Data is a part with a JSON value.
func (s Words) Data(value string) string {
	switch {
	case s.Side == RPC01:
		return `{"type":"data","data":` + value + `}`
	case s.Side == RPC03:
		return `{"kind":"data","data":` + value + `}`
	case s.Proto():
		return `{"data":{"data":` + value + `}}`
	}
	return `{"data":` + value + `}`
}

// Message is one of a role, "user" or "agent", with one part.
func (s Words) Message(role, part, more string) string {
	switch {
	case s.Side == RPC01:
		return fmt.Sprintf(`{"role":%q,"parts":[%s]%s}`, role, part, more)
	case s.Side == RPC03:
		return fmt.Sprintf(`{"kind":"message","messageId":"m","role":%q,"parts":[%s]%s}`, role, part, more)
	case s.Proto():
		return fmt.Sprintf(`{"messageId":"m","role":"ROLE_%s","content":[%s]%s}`, strings.ToUpper(role), part, more)
	}
	return fmt.Sprintf(`{"messageId":"m","role":"ROLE_%s","parts":[%s]%s}`, strings.ToUpper(role), part, more)
}

// Task is what a send returns; said is the status' message, "" for none.
func (s Words) Task(id, state, said, more string) string {
	task := strings.Replace(TaskIn(s.Side, id, "c-"+id, state, more), fmt.Sprintf(`"state":%q`, StateIn(s.Side, state)),
		fmt.Sprintf(`"state":%q%s`, StateIn(s.Side, state), Member("message", said)), 1)
	if s.Side == RPC03 || s.Side == RPC01 {
		return task
	}
	return `{"task":` + task + `}`
}

// Status is a status event; said is the message in it, "" for none.
func (s Words) Status(id, state, said string) string {
	return StatusIn(s.Side, id, "c-"+id, state, Member("message", said))
}

// Member is one further member of an object, with the comma before it; nothing where value is "".
func Member(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(`,%q:%s`, name, value)
}

// Meta is a member with one key in it.
func Meta(key, value string) string { return fmt.Sprintf(`,"metadata":{%q:%s}`, key, value) }

// Send are the params of a send in the words of a side.
func (s Words) Send(part, inMessage, more string) string {
	if part == "" {
		part = s.Text("hi", "")
	}
	return `{"message":` + s.Message("user", part, inMessage) + more + `}`
}

// BadAnswer is what a side calls an agent's answer that is withheld. gRPC has no word
// for it in 0.3.
func BadAnswer(s wire.Side) *wire.Kind {
	if s == GRPC03 {
		return wire.Internal
	}
	return wire.BadAgentResponse
}

// File is a part in the words of a side: a file by URI, or with bytes in base64. more are
// members of the file, in 1.0's words.
func (s Words) File(uri, bytes, more string) string {
	name, content := "url", uri
	if bytes != "" {
		name, content = "raw", bytes
	}
	if s.Version == wire.V10 {
		return `{"` + name + `":` + JSONText(content) + more + `}`
	}
	more = strings.NewReplacer(`"mediaType":`, `"mimeType":`, `"filename":`, `"name":`).Replace(more)
	name = map[string]string{"url": "uri", "raw": "bytes"}[name]
	if s.Proto() {
		name = map[string]string{"uri": "fileWithUri", "bytes": "fileWithBytes"}[name]
	}
	kind := map[wire.Side]string{RPC01: `"type":"file",`, RPC03: `"kind":"file",`}[s.Side]
	return `{` + kind + `"file":{"` + name + `":` + JSONText(content) + more + `}}`
}

// SendFile are the params of a send with one file after a text.
func (s Words) SendFile(part string) string {
	more := ""
	if s.Side == RPC01 {
		more = fmt.Sprintf(`,"id":%q`, NewTaskID(s.Side))
	}
	return s.Send(s.Text("look", "")+","+part, "", more)
}
