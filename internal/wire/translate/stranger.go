package translate

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Stranger is what an object of A2A's has that its version does not define: a member,
// or a value where the version lists those there are. Extensions may add neither
// (the page Extensions of A2A 1.0, Limitations).
type Stranger struct {
	Pointer string // RFC 6901, into the document; a name of over 128 bytes in it is cut
	Value   bool   // an unknown value; else an unknown member
}

// Bounds of what is told of one document, since whoever wrote it chose it.
const (
	mostStrangers = 32
	longestStep   = 128
)

// Strangers finds them in a request's params (the document of a call's Params) or,
// with answer, in a result or event without its envelope, in the order of the
// document, the first 32. What is inside of metadata, data, cards and extensions' own
// methods is not A2A's and not looked at.
//
// A member is known under the names that this package reads it by: those of the
// proto files in every dialect, and on 0.3's HTTP+JSON those of JSON-RPC as well,
// since that version's text has them there and its proto has others. Whether a
// known member has the right type, or must be there, is for others to say.
//
//	{"message":{"messageId":"m","role":"user","parts":[],"urgent":true}}
//	1.0: /message/role, a value that it does not list, and /message/urgent, a member that it does not define
func Strangers(s wire.Side, m *wire.Method, answer bool, doc []byte) []Stranger {
	if m == nil || m.Subject == 0 || m.Extension != "" {
		return nil
	}
	w := watch{d: dialectOf(s), path: make([]byte, 0, 64)}
	doc = bytes.TrimSpace(doc)
	switch {
	case !answer:
		o := paramsOf(m)
		if o == nil {
			o = createdObject
		}
		w.object(o, doc)
	case m.Subject == wire.OfMessage, m.Streams:
		w.event(doc, m.Streams)
	case m.Subject == wire.OfTask:
		w.task(doc)
	case m.Subject == wire.OfCaller:
		w.object(tasksObject, doc)
	case m.Subject == wire.OfConfig && m.Does != wire.Deletes:
		w.configs(doc)
	}
	return w.found
}

// watch walks through one document by the tables.
type watch struct {
	d     dialect
	path  []byte // where it is, as a pointer
	found []Stranger
}

// tell notes the member where the walk stands, as far as there is room.
func (w *watch) tell(value bool) {
	if len(w.found) < mostStrangers {
		w.found = append(w.found, Stranger{string(w.path), value})
	}
}

// step goes into a member. Who calls it goes back to where it was.
func (w *watch) step(name []byte) {
	w.path = append(w.path, '/')
	if len(name) > longestStep {
		name = name[:longestStep]
		for len(name) > 0 && !utf8.Valid(name) {
			name = name[:len(name)-1]
		}
	}
	for _, c := range name {
		switch c {
		case '~':
			w.path = append(w.path, "~0"...)
		case '/':
			w.path = append(w.path, "~1"...)
		default:
			w.path = append(w.path, c)
		}
	}
}

func (w *watch) object(o *object, raw []byte) {
	if !isObject(raw) {
		return
	}
	for name, value := range members(raw) {
		name = unescaped(name)
		mark := len(w.path)
		w.step(name)
		s := w.find(o, name)
		switch {
		case s != nil:
			w.value(o, s.at, value)
		case string(name) == "kind" && w.hasKind(o):
			w.kind(value, o.kind)
		case !tolerated(o, w.d, name):
			w.tell(false)
		}
		w.path = w.path[:mark]
	}
}

func (w *watch) list(o *object, raw []byte) {
	if !isArray(raw) {
		return
	}
	n := 0
	for value := range elements(raw) {
		mark := len(w.path)
		w.path = strconv.AppendInt(append(w.path, '/'), int64(n), 10)
		w.object(o, value)
		w.path = w.path[:mark]
		n++
	}
}

// find looks a member up in the table, under its name in the document's dialect.
//
// 0.3's text shows the JSON-RPC names for HTTP+JSON too, while its proto has others; both are in use.
func (w *watch) find(o *object, name []byte) *spelling {
	s := o.find(w.d, name)
	if s == nil && w.d == p03 {
		s = o.find(d03, name)
	}
	return s
}

// hasKind reports whether objects of this table say their kind in the document's dialect.
func (w *watch) hasKind(o *object) bool { return o.kind != "" && (w.d == d03 || w.d == p03) }

// tolerated are members that no text has but everybody's programs: the samples of
// 0.1 had the one, 1.0's release candidate the other.
func tolerated(o *object, d dialect, name []byte) bool {
	return o == sendObject && d == d01 && string(name) == "acceptedOutputModes" ||
		o == settingsObject && d == d10 && string(name) == "blocking"
}

// value looks at the value of a member that is known.
func (w *watch) value(o *object, row int, raw []byte) {
	m := &o.members[row]
	switch {
	case isNull(raw):
	case o == partObject && row == partKind:
		w.kind(raw, "text", "file", "data")
	case o == partObject && row == partFile:
		w.object(fileObject, raw)
	case m.is == aRole:
		w.word(roles[:], nobody[w.d], raw)
	case m.is == aState:
		w.word(states[:], british, raw)
	case m.is == aPartList:
		w.list(partObject, raw)
	case m.is == aPushConfig:
		w.object(hookObject, raw)
	case m.is == aList, m.is == aHistory:
		w.list(m.of, raw)
	case m.of != nil:
		w.object(m.of, raw)
	}
}

// kind looks at what tells objects apart before 1.0.
func (w *watch) kind(raw []byte, known ...string) {
	if isNull(raw) {
		return
	}
	kind := inside(raw)
	for _, k := range known {
		if string(kind) == k {
			return
		}
	}
	w.tell(true)
}

// listed are the dialects whose words are values of a dialect: both protos spell
// canceled in one way each, and readers take either.
var listed = [dialects][]dialect{d01: {d01}, d03: {d03}, p03: {p03, d10, d03}, d10: {d10, p03}}

// nobody is the role that the protos list and say not to use.
var nobody = words{"", "", "ROLE_UNSPECIFIED", "ROLE_UNSPECIFIED"}

// word looks at a role or state. ProtoJSON has numbers for them as well.
//
// An extension must not add states or roles (see Stranger), so an unknown word is told as well as an
// unknown member.
func (w *watch) word(table []words, also string, raw []byte) {
	if !isString(raw) {
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 || n >= len(table) || w.d != p03 && w.d != d10 {
			w.tell(true)
		}
		return
	}
	word := string(inside(raw))
	for n := range table {
		for _, d := range listed[w.d] {
			if word != "" && word == table[n][d] {
				return
			}
		}
	}
	if word == "" || word != also {
		w.tell(true)
	}
}

// event looks at what a send returned, or one event.
func (w *watch) event(raw []byte, stream bool) {
	what, inner := classify(w.d, raw, stream)
	if what == 0 || len(inner) < len(raw) {
		w.object(wrapperObject, raw)
		return
	}
	w.object(wrapperObject.members[what-1].of, raw)
}

// task looks at a task, which some agents wrap.
func (w *watch) task(raw []byte) {
	if isObject(raw) && bareThing(w.d, raw, false) == isTask {
		w.object(taskObject, raw)
		return
	}
	w.event(raw, false)
}

// configs looks at a push notification config or a list of them.
func (w *watch) configs(raw []byte) {
	switch {
	case isArray(raw):
		w.list(createdObject, raw)
	case has(raw, "configs"):
		w.object(createdList, raw)
	default:
		w.object(createdObject, raw)
	}
}

// A push notification config in the forms that push.go tells about, with 1.0's
// release candidate, which had them nested as 0.3 did: the webhook, which in 1.0 is
// the whole config, what is around it, and a create call.
var (
	hookRows = []member{
		{say: everywhere("id")},
		{say: everywhere("url")},
		{say: everywhere("token")},
		{say: everywhere("authentication"), of: authenticationObject},
		{say: words{"", "", "", "taskId"}},
		{say: words{"", "", "", "tenant"}},
	}
	aroundRows = []member{
		{say: everywhere("pushNotificationConfig"), of: hookObject},
		{say: words{"", "taskId", "", ""}},
		{say: words{"", "", "name", ""}},
	}
	createRows = []member{
		{say: words{"", "", "parent", ""}},
		{say: words{"", "", "configId", "configId"}},
		{say: words{"", "", "config", "config"}, of: aroundObject},
	}

	hookObject    = newObject("", "", hookRows...)
	aroundObject  = newObject("", "", slices.Concat(hookRows, aroundRows)...)
	createdObject = newObject("", "", slices.Concat(hookRows, aroundRows, createRows)...)

	// createdList is the answer of a list, where it is an object.
	createdList = newObject("", "",
		member{say: everywhere("configs"), is: aList, of: createdObject},
		member{say: everywhere("nextPageToken")},
	)
)
