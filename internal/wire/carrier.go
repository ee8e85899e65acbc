package wire

import (
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Place is the kind of object that a Carrier is.
type Place uint8

// The places where extensions leave something (A2A 1.0 §4.6).
const (
	InParams   Place = iota + 1 // of a request; metadata only
	InMessage                   // of a request, an answer, a task's history or status
	InPart                      // of a message or artifact; metadata only
	InTask                      // metadata only
	InStatus                    // of a task or update; has neither, but a message
	InUpdate                    // an event about a status or artifact; metadata only
	InArtifact                  // of a task or update
)

// Carrier is one object of a document that may hold what belongs to extensions.
type Carrier struct {
	Place   Place
	Span    [2]int   // the object in the document
	Data    [2]int   // of a part: the value of its data, whatever its version wraps around it; else {0, 0}
	Text    [2]int   // of a part: the value of its text; else {0, 0}
	Near    [][2]int // values that a lenient reader takes as the text or the metadata: "TEXT", metadata that is no object
	State   string   // of a status: the task state under its 1.0 name
	Task    string   // of a task or update: its task's id
	History bool     // it is in a task's history, and so may be older than this call
	File    bool     // of a part: it may be a file, see Files
	Parent  int      // index of the object around it, -1 for none
	Name    string   // the member of Parent that it stands in, as the document spells it: "parts"
	Index   int      // its place in that member where that is an array, else -1

	metadata, extensions [2]int // values of the members; {0, 0} where there are none
}

// Mark is one thing that an extension left: a member of some metadata, or a URI
// that a message or artifact lists in its extensions.
type Mark struct {
	Carrier int    // index of the object that has it
	Key     string // unescaped name of the member, or the URI
	Listed  bool   // in extensions; else in metadata
	Value   [2]int // value of the member; of a URI, the string
	span    [2]int // the member with its name; of a URI, the string
	index   int    // of a URI, its place in the list
}

// Begin is where the member begins in the document, with the quote of its name; of a URI, where the string does.
func (m *Mark) Begin() int { return m.span[0] }

// Carriers are the objects of one document in the order in which they begin, and
// what extensions left in them. Changes are collected and made by Apply.
//
// A Carriers is for one goroutine, and good for one Apply: the spans are of Doc as it was read.
type Carriers struct {
	Doc   []byte
	List  []Carrier
	Marks []Mark

	Side    Side                  // how the document is written
	long    *jsonscan.LongStrings // what decoding has found of them; nil for nothing
	base    string                // pointer to the params or the result
	lists   bool                  // this version has lists of extensions
	changes []change
}

// Pointer is where a carrier stands, as an RFC 6901 pointer into the document.
//
//	/params/message              the message of a send on JSON-RPC
//	/task/artifacts/0/parts/1    a part of an answer on HTTP+JSON
func (c *Carriers) Pointer(i int) string { return string(c.appendPointer(nil, i)) }

// appendPointer goes from the outermost object inwards: an object knows the one around it, and its
// place there.
func (c *Carriers) appendPointer(b []byte, i int) []byte {
	at := &c.List[i]
	if at.Parent < 0 {
		b = append(b, c.base...)
	} else {
		b = c.appendPointer(b, at.Parent)
	}
	if at.Name != "" {
		b = append(append(b, '/'), at.Name...)
	}
	if at.Index >= 0 {
		b = strconv.AppendInt(append(b, '/'), int64(at.Index), 10)
	}
	return b
}

// escapePointer is RFC 6901 §3.
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// PointerTo is where a mark stands.
func (c *Carriers) PointerTo(m Mark) string {
	at := c.Pointer(m.Carrier)
	if m.Listed {
		return at + "/extensions/" + strconv.Itoa(m.index)
	}
	return at + "/metadata/" + escapePointer.Replace(m.Key)
}
