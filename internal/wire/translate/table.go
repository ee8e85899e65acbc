package translate

import "strings"

// meaning says how the value of a member is retold.
//
// Meanings are numbers rather than functions so that the tables can also be walked by what does not
// write: the search for what a version does not define (Strangers), and the tests that print the tables.
type meaning uint8

const (
	_ meaning = iota // copied as it stands

	// What messages, tasks and events are made of.
	anObject     // of member.of
	aStatus      // likewise, made up where it is missing
	aList        // of objects; an empty one is left out
	aHistory     // a list that may be cut
	aPartList    //
	aRole        //
	aState       //
	aTime        //
	aTaskID      // where there is one
	aContextID   //
	ownTaskID    // of the thing itself: filled in where it is missing
	ownContextID //
	aMessageID   // made up where it is missing
	anArtifactID // 0.1 numbers artifacts instead
	anIndex      //
	anAppend     // 0.1 has it in the artifact, the others beside it
	aLastChunk   //
	aFinal       // 1.0 leaves it to the state

	// What params and push notification configs are made of.
	aTenant
	aConfigID
	aTaskName   // "tasks/T"
	aConfigName // "tasks/T/pushNotificationConfigs/C"
	aFilter     // the context that a list is about
	aPageToken
	anAuthentication
	aScheme // a list of them before 1.0
	aPushConfig
	aConfiguration
	aModeList
	aHistoryLength
	aBlocking
	aReturn // blocking, said the other way round
)

// ofCall reports whether a member of params is written from the call and never
// from its document.
//
// Ids of a call have been replaced by the agent's before it is retold, in the wire.Call and not in
// its body. Copied from the body, the caller's would come back.
func (m meaning) ofCall() bool {
	switch m {
	case aTaskID, aContextID, ownTaskID, ownContextID, aTenant, aConfigID, aTaskName, aConfigName, aFilter, aPageToken:
		return true
	}
	return false
}

// reaches reports whether there may be something to change inside a value or about
// it when its object is copied within a dialect.
func (m meaning) reaches() bool {
	switch m {
	case anObject, aStatus, aList, aHistory, aTaskID, aContextID, ownTaskID, ownContextID, aConfigName, aConfiguration, aPushConfig:
		return true
	}
	return false
}

// differs reports whether a value may stand in other words, or in another form, than
// its dialect's, and is understood.
func (m meaning) differs(raw []byte) bool {
	ok := false
	switch m {
	case aRole:
		_, ok = number(roles[:], raw)
	case aState:
		_, ok = number(states[:], raw)
	case anAuthentication, aScheme:
		ok = true
	}
	return ok
}

// spelled reports whether a value is a word of the protocol's.
func (m meaning) spelled() bool { return m == aRole || m == aState }

// member is one row of an object's table.
type member struct {
	say  words // the name in each dialect; "" where it does not exist
	is   meaning
	of   *object  // of anObject and aList
	also []string // further names under which it is read, in any dialect
}

// object is the table of one kind of object, in the order in which it is written.
//
// An example is taskObject: 0.1's sessionId is the contextId of the others.
//
//	0.1   {"id":"T","sessionId":"C","status":{"state":"working"}}
//	1.0   {"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}
type object struct {
	name    string // as docs/versions.md calls it
	kind    string // 0.2's and 0.3's "kind", "" for none
	members []member
	names   [dialects][]spelling
	tenant  bool     // one of the members is a tenant, if not in every dialect
	ids     []string // names of what the call decides, in whatever dialect
}

// spelling is one name under which a member is read.
//
// In ProtoJSON "context_id" is read where "contextId" is written (the name of the field in the proto
// file), and it is never exact: if both stand in a document, the written one wins.
type spelling struct {
	name  string
	at    int  // in object.members
	exact bool // the name that the dialect writes
}

// mostMembers is more than any table has rows.
const mostMembers = 12

// values are the members that were found, by their row; nil for absent and null,
// which no version tells apart.
type values [mostMembers][]byte

// newObject makes a table. kind is what the object says that it is in JSON-RPC of 0.3, "" for nothing.
//
// Tables are made once, when the program starts. A document is matched against at most a dozen names
// per object, for which a loop is faster than a map.
func newObject(name, kind string, rows ...member) *object {
	o := &object{name: name, kind: kind, members: rows}
	for i, m := range rows {
		o.tenant = o.tenant || m.is == aTenant
		for d, name := range m.say {
			if name == "" {
				continue
			}
			if m.is.ofCall() {
				o.withIDs(name)
			}
			o.names[d] = append(o.names[d], spelling{name, i, true})
			// ProtoJSON parsers take the names of the proto files as well, and
			// package wire reads them in every version.
			if snake := snakeCase(name); snake != name {
				o.names[d] = append(o.names[d], spelling{snake, i, false})
			}
			for _, other := range m.also {
				o.names[d] = append(o.names[d], spelling{other, i, false})
			}
		}
	}
	return o
}

// newParams is newObject for what params consist of.
func newParams(name string, rows ...member) *object {
	return newObject(name, "", rows...).withIDs(
		"id", "name", "parent", "taskId", "contextId", "sessionId", "configId", "pushNotificationConfigId")
}

// withIDs adds names that only other objects, or other versions, have for an id. An agent
// that knows several versions may look for one there.
func (o *object) withIDs(names ...string) *object {
	for _, name := range names {
		o.ids = append(o.ids, name, snakeCase(name))
	}
	return o
}

// snakeCase is the proto file's name for a member, which ProtoJSON readers take as well.
//
//	pushNotificationConfig   push_notification_config
func snakeCase(camel string) string {
	var b strings.Builder
	for _, c := range []byte(camel) {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			c |= 0x20
		}
		b.WriteByte(c)
	}
	return b.String()
}

// find returns the row that a name means in a dialect, or nil.
func (o *object) find(d dialect, name []byte) *spelling {
	for i := range o.names[d] {
		if s := &o.names[d][i]; string(name) == s.name {
			return s
		}
	}
	return nil
}

// gather finds the members of an object. The name that the dialect itself writes
// wins over others with the same meaning.
//
// Values are pieces of raw and stay valid as long as raw does.
func (o *object) gather(d dialect, raw []byte, v *values) {
	for name, value := range members(raw) {
		s := o.find(d, unescaped(name))
		if s == nil || isNull(value) {
			continue
		}
		if v[s.at] == nil || s.exact {
			v[s.at] = value
		}
	}
}
