package wire

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field is what a member of a request means to the gateway, whatever the
// version and object it stands in. The zero field means nothing to it.
type field uint8

const (
	fieldNone field = iota

	fieldProtocol  // envelope: jsonrpc
	fieldRequestID // envelope: id
	fieldMethod    // envelope: method
	fieldParams    // envelope: params

	fieldTenant
	fieldTask          // a task's id
	fieldContext       // a context's id; 0.1 calls it session
	fieldConfig        // a push config's id
	fieldName          // 0.3 HTTP+JSON and gRPC: tasks/{task}[/pushNotificationConfigs/{config}]
	fieldPageToken     //
	fieldHistory       // historyLength, which tells a 0.1 resubscribe from a 0.3 one
	fieldMessage       //
	fieldMessageID     //
	fieldReferences    // referenceTaskIds
	fieldExtensions    //
	fieldParts         //
	fieldMetadata      //
	fieldConfiguration // of a send
	fieldPush          // a push config
	fieldOpaque        // skipped, but its name must not be imitated

	// What some version has elsewhere, in a place where this one has nothing (see stray.go).
	fieldStrayTask    // a task's id or resource name
	fieldStrayContext // a context's id
	fieldStrayObject  // a message or a push config
)

// names are the members that decide something in one kind of object. They are
// few, so that comparing lengths finds one faster than a map would.
type names struct {
	kind *Kind // what a wrong name is refused as
	list []spelling
}

// spelling is how a name may be written: as the schemas do, or in the snake
// case of the proto files, which ProtoJSON parsers accept too.
type spelling struct {
	camel, snake string
	folded       string // as the most lenient parser sees either
	field        field
	bit          uint32 // set once seen, so that two spellings are one name
}

// newNames builds the table for an object from its names in camel case. Later
// sets win over earlier ones.
func newNames(kind *Kind, sets ...map[string]field) *names {
	all := make(map[string]field)
	for _, set := range sets {
		maps.Copy(all, set)
	}
	n := &names{kind: kind}
	for i, camel := range slices.Sorted(maps.Keys(all)) {
		n.list = append(n.list, spelling{
			camel: camel, snake: snakeCase(camel), folded: string(fold(nil, []byte(camel), longestName)),
			field: all[camel], bit: 1 << i,
		})
	}
	return n
}

func snakeCase(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// The tables. Which one params are read by depends on the method's subject, the
// version and the binding; see decoder.table.
var (
	envelopeNames = newNames(InvalidRequest, map[string]field{
		"jsonrpc": fieldProtocol, "id": fieldRequestID, "method": fieldMethod, "params": fieldParams,
	})

	strayMembers = map[string]field{
		"id": fieldStrayTask, "taskId": fieldStrayTask, "name": fieldStrayTask,
		"contextId": fieldStrayContext, "sessionId": fieldStrayContext, "referenceTaskIds": fieldReferences,
	}
	strayObjects = map[string]field{
		"request": fieldStrayObject, "pushNotification": fieldStrayObject,
		"pushNotificationConfig": fieldStrayObject, "taskPushNotificationConfig": fieldStrayObject,
	}
	sendMembers = map[string]field{
		"tenant": fieldTenant, "message": fieldMessage, "configuration": fieldConfiguration,
		"metadata": fieldMetadata,
	}
	sendNames = newNames(InvalidParams, strayMembers, strayObjects, sendMembers)
	// 0.3's proto calls the message "request" and its JSON name is "message";
	// clients that write proto names send the former.
	requestMembers  = map[string]field{"request": fieldMessage}
	sendNamesHTTP03 = newNames(InvalidParams, strayMembers, strayObjects, sendMembers, requestMembers)
	send01Members   = map[string]field{
		"id": fieldTask, "sessionId": fieldContext, "pushNotification": fieldPush, "historyLength": fieldOpaque,
	}
	sendNames01 = newNames(InvalidParams, strayMembers, strayObjects, sendMembers, send01Members)

	taskMembers = map[string]field{
		"tenant": fieldTenant, "id": fieldTask, "taskId": fieldTask, "metadata": fieldMetadata,
		"historyLength": fieldHistory,
	}
	nameMembers = map[string]field{"name": fieldName}
	// No version has the context here. It is judged as the task's.
	contextMembers = map[string]field{"contextId": fieldContext, "sessionId": fieldContext}
	taskNames      = newNames(InvalidParams, taskMembers, nameMembers, contextMembers)

	// Flat in 1.0; nested in "config" for its release candidate, whose clients
	// are still about.
	configMembers = map[string]field{
		"tenant": fieldTenant, "taskId": fieldTask, "id": fieldConfig, "configId": fieldConfig,
		"pushNotificationConfigId": fieldConfig, "config": fieldPush, "pushNotificationConfig": fieldPush, "metadata": fieldMetadata,
		"url": fieldOpaque, "token": fieldOpaque, "authentication": fieldOpaque, "pageToken": fieldPageToken,
	}
	config03Members = map[string]field{"id": fieldTask}
	resourceMembers = map[string]field{"name": fieldName, "parent": fieldName}
	configNames     = newNames(InvalidParams, configMembers, resourceMembers, contextMembers)
	configNames03   = newNames(InvalidParams, configMembers, resourceMembers, contextMembers, config03Members)

	listMembers = map[string]field{
		"tenant": fieldTenant, "contextId": fieldContext, "pageToken": fieldPageToken,
	}
	listNames = newNames(InvalidParams, strayMembers, listMembers)
	// The card is nobody's, whatever stands in the params.
	agentNames = newNames(InvalidParams, map[string]field{"tenant": fieldTenant})

	// A message's own id is called id by some, which is no task's.
	messageNames = newNames(InvalidParams, map[string]field{
		"sessionId": fieldStrayContext,
		"messageId": fieldMessageID, "taskId": fieldTask, "contextId": fieldContext,
		"referenceTaskIds": fieldReferences, "extensions": fieldExtensions, "metadata": fieldMetadata,
		"parts": fieldParts, "content": fieldParts,
	})
	// Every version's name for the inline push config is read in every version:
	// SDKs accept the older ones too.
	configurationNames = newNames(InvalidParams, strayMembers, map[string]field{
		"pushNotificationConfig": fieldPush, "taskPushNotificationConfig": fieldPush, "pushNotification": fieldPush,
	})
	pushMembers = map[string]field{
		"tenant": fieldTenant, "taskId": fieldTask, "id": fieldConfig,
		"url": fieldOpaque, "token": fieldOpaque, "authentication": fieldOpaque,
	}
	pushNames = newNames(InvalidParams, pushMembers, map[string]field{
		"name": fieldName, "pushNotificationConfig": fieldPush,
	})
)

// table is how the params, body or query of this call are read. A gRPC request is
// the body of HTTP+JSON with the members of path and query in it.
func (d *decoder) table() *names {
	http, v := d.call.Binding != JSONRPC, d.call.Version
	if d.call.Method.Extension != "" {
		return d.call.Extra.params[d.call.Method].table(http, v)
	}
	switch d.call.Method.Subject {
	case OfMessage:
		switch {
		case v == V01:
			return sendNames01
		case http && v == V03:
			return sendNamesHTTP03
		}
		return sendNames
	case OfTask:
		return taskNames
	case OfConfig:
		if v == V10 {
			return configNames
		}
		return configNames03
	case OfCaller:
		return listNames
	}
	return agentNames
}

// member reads the next member's name and says what it means. A name that some
// parsers would take for one in the table while others would not is refused:
// case, underscores and hyphens ignored, ſ for s, K for k, a NUL that ends the
// string in some languages. So is a name that is there in both its spellings.
func (d *decoder) member(n *names, seen *uint32) field {
	at := d.pos
	name := d.name()
	sp, f := n.find(name)
	switch {
	case sp == nil:
		return fieldNone
	case f == fieldNone:
		d.refuse(Errorf(n.kind, "a member's name, after byte %d, is not quite %q", at, sp.camel))
	case *seen&sp.bit != 0:
		d.refuse(Errorf(n.kind, "%q is given twice", sp.camel))
	}
	*seen |= sp.bit
	d.at = sp
	return f
}

// find looks name up. A near miss gives the spelling it misses and fieldNone.
func (n *names) find(name []byte) (*spelling, field) {
	for i := range n.list {
		if sp := &n.list[i]; string(name) == sp.camel || string(name) == sp.snake {
			return sp, sp.field
		}
	}
	var buf [longestName + utf8.UTFMax]byte
	folded := fold(buf[:0], name, longestName)
	for i := range n.list {
		if sp := &n.list[i]; string(folded) == sp.folded {
			return sp, fieldNone
		}
	}
	return nil, fieldNone
}

// longestName is more than any name in the tables has.
const longestName = 32

// fold appends name as the most lenient parser would see it. It stops where
// the result is longer than longest.
func fold(dst, name []byte, longest int) []byte {
	for i := 0; i < len(name) && len(dst) <= longest; {
		c := name[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'A' <= c && c <= 'Z':
				dst = append(dst, c|0x20)
			case c > ' ' && c != '_' && c != '-':
				dst = append(dst, c)
			}
			continue
		}
		r, size := utf8.DecodeRune(name[i:])
		i += size
		switch r {
		case 'ſ':
			dst = append(dst, 's')
		case '\u212a': // Kelvin sign
			dst = append(dst, 'k')
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
