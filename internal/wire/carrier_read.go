package wire

import (
	"bytes"
	"slices"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// ReadCarriers finds the objects of a document: the whole request body of m, or, with
// answer, an agent's whole answer or one event. On gRPC doc is the ProtoJSON document.
// An empty document has none; neither have cards and push notification configs.
//
// The document has been read before, by ReadAnswer or by decoding, so that here
// whatever might be an object of A2A's is taken for one: under the names of all
// versions, with and without wrappers, in the answers of extensions' methods too.
// Errors are those of ReadAnswer and of decoding; in addition, members are refused
// whose names some parsers take for ones that are looked into, and documents of more
// objects or marks than any call needs.
//
// What is found in {"message":{"messageId":"m","extensions":["urn:x"],"metadata":{"urn:x/k":1},"parts":[{"text":"a"}]}}:
//
//	List    params, message at /message, part at /message/parts/0
//	Marks   urn:x of the message's extensions, urn:x/k of its metadata
func ReadCarriers(s Side, m *Method, answer bool, doc []byte, lim Limits) (*Carriers, error) {
	return readCarriers(s, m, answer, doc, lim, nil)
}

// Carriers is ReadCarriers of the call's body, of which its long strings are known.
func (c *Call) Carriers(lim Limits) (*Carriers, error) {
	return readCarriers(Side{Version: c.Version, Binding: c.Binding}, c.Method, false, c.Body, lim, c.Long)
}

// readCarriers does both; what a first reading knows of long strings may be nil.
func readCarriers(s Side, m *Method, answer bool, doc []byte, lim Limits, long *jsonscan.LongStrings) (*Carriers, error) {
	c := &Carriers{Doc: doc, Side: s, lists: s.Version != V01, long: long}
	if len(bytes.TrimSpace(doc)) == 0 {
		return c, nil
	}
	r, _ := carrierReaders.Get().(*carrierReader) // the pool holds nothing else
	r.answerReader = answerReader{s: NewScanner(doc, lim), binding: s.Binding, version: s.Version, method: m}
	defer r.release()
	r.s.Know(long)
	r.answer = answer
	switch {
	case s.Binding != JSONRPC:
		r.root()
	case answer:
		c.base = "/result"
		r.payload("result")
	default:
		c.base = "/params"
		r.payload("params")
	}
	if e := Finish(r.s); e != nil {
		if answer {
			return nil, BadAnswer(e)
		}
		return nil, e
	}
	c.List, c.Marks = slices.Clone(r.list), slices.Clone(r.marks)
	return c, nil
}

// Rescan is a scanner in front of the object of carrier i, which ends with the object. The caller
// has to release it.
func (c *Carriers) Rescan(i int) *jsonscan.Scanner {
	span := c.List[i].Span
	s := Rescan(c.Doc[:span[1]])
	s.Know(c.long)
	s.Pos = span[0]
	return s
}

// carrierReader is the state of one ReadCarriers. It reads ids, kinds and states as
// ReadAnswer does.
type carrierReader struct {
	answerReader
	answer bool
	list   []Carrier
	marks  []Mark
}

// carrierReaders recycles the scratch memory; one in the pool holds no document.
var carrierReaders = sync.Pool{New: func() any { return new(carrierReader) }}

// manyCarriers bounds the objects of one document, and its marks: an empty part takes
// three bytes in a document and fifty times as many here.
const manyCarriers = 1 << 16

// keptCarriers bounds what one unusual document leaves behind in the pool.
const keptCarriers = 128

// release gives the scratch memory back, without what it says of this document.
func (r *carrierReader) release() {
	r.s.Release()
	r.answerReader = answerReader{}
	if cap(r.list) > keptCarriers || cap(r.marks) > keptCarriers {
		return
	}
	clear(r.list)
	clear(r.marks)
	r.list, r.marks = r.list[:0], r.marks[:0]
	carrierReaders.Put(r)
}

// payload reads the member of a JSON-RPC envelope that the method is about.
func (r *carrierReader) payload(member string) {
	s := r.s
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		if string(s.Name()) == member {
			r.root()
		} else {
			s.Skip()
		}
	}
}

// root reads params or a result.
func (r *carrierReader) root() {
	switch {
	case r.s.Kind() != '{', r.answer && r.silent():
		r.s.Skip()
	case r.answer:
		r.top()
	default:
		r.params()
	}
}

// silent reports whether the method answers nothing that has room for extensions.
//
// A card has extensions of its own, which say what the agent supports and belong to no call. A push
// notification config has neither metadata nor extensions.
func (r *carrierReader) silent() bool {
	return !r.foreign() && (r.method.Subject == OfConfig || r.method.Subject == OfAgent)
}

// foreign reports whether the method is not A2A's own.
func (r *carrierReader) foreign() bool { return r.method == nil || r.method.Extension != "" }

// begin adds the object that comes next. It gets its index before those inside of it.
func (r *carrierReader) begin(c Carrier) int {
	c.Span[0] = r.s.Pos // kind has been asked for, and stands on the brace
	r.list = append(r.list, c)
	r.bounded(len(r.list))
	return len(r.list) - 1
}

// bounded ends the reading of a document that has more objects or marks than any call needs.
func (r *carrierReader) bounded(n int) {
	if n > manyCarriers {
		r.s.Stop(Errorf(TooLarge, "the document has more than %d objects or marks of extensions", manyCarriers))
	}
}

// params reads the params of a request.
func (r *carrierReader) params() {
	s := r.s
	i := r.begin(Carrier{Place: InParams, Parent: -1, Index: -1})
	for s.Enter(); s.More(); {
		switch string(s.Name()) {
		case "metadata":
			r.metadata(i)
		case "message":
			r.child(Carrier{Place: InMessage, Parent: i, Name: "message", Index: -1})
		case "request":
			if r.proto03() {
				r.child(Carrier{Place: InMessage, Parent: i, Name: "request", Index: -1})
			} else {
				s.Skip()
			}
		default: // near misses are the decoder's
			s.Skip()
		}
	}
	r.list[i].Span[1] = s.Pos
}

// proto03 reports whether the document is ProtoJSON of 0.3.
func (r *carrierReader) proto03() bool { return r.version == V03 && r.binding != JSONRPC }

// metadata reads the metadata of object i. The decoder refuses what is no object, and
// agents' is left to clients.
//
//	"metadata":{"https://example.com/ext/v1/key":1,"other":[2]}
//
// Every member is a mark, whether or not an extension is known to own it: whose it is, is ext's
// question.
func (r *carrierReader) metadata(i int) {
	s := r.s
	kind, start := s.Kind(), s.Pos
	if kind != '{' {
		s.Skip()
		r.list[i].metadata = [2]int{start, s.Pos}
		r.list[i].Near = append(r.list[i].Near, r.list[i].metadata)
		return
	}
	for s.Enter(); s.More(); {
		s.Kind()
		name := s.Pos
		key := string(s.Name())
		from, to := s.Skip()
		r.marks = append(r.marks, Mark{Carrier: i, Key: key, Value: [2]int{from, to}, span: [2]int{name, to}})
		r.bounded(len(r.marks))
	}
	r.list[i].metadata = [2]int{start, s.Pos}
}

// listed reads the extensions that object i lists.
//
//	"extensions":["https://example.com/ext/v1"]
//
// 0.1 has no such lists. What stands under the name in a document of 0.1 is read all the same, for a
// lenient client may read it too.
func (r *carrierReader) listed(i int) {
	s := r.s
	kind, start := s.Kind(), s.Pos
	if kind != '[' {
		s.Skip()
		r.list[i].extensions = [2]int{start, s.Pos}
		return
	}
	n := 0
	for s.Enter(); s.More(); n++ {
		if s.Kind() != '"' {
			s.Skip()
			continue
		}
		from := s.Pos
		uri := string(s.Text())
		span := [2]int{from, s.Pos}
		r.marks = append(r.marks, Mark{Carrier: i, Key: uri, Listed: true, Value: span, span: span, index: n})
		r.bounded(len(r.marks))
	}
	r.list[i].extensions = [2]int{start, s.Pos}
}

// carrierNames are the names that lead to a mark.
var carrierNames = NewNames(InvalidParams, map[string]jsonscan.Field{
	"task": fieldOpaque, "message": fieldOpaque, "msg": fieldOpaque, "statusUpdate": fieldOpaque,
	"artifactUpdate": fieldOpaque, "tasks": fieldOpaque, "status": fieldOpaque, "update": fieldOpaque,
	"artifact": fieldOpaque, "artifacts": fieldOpaque, "history": fieldOpaque, "parts": fieldOpaque,
	"content": fieldOpaque, "data": fieldOpaque, "metadata": fieldOpaque, "extensions": fieldOpaque,
})

// other reads past a member that has no meaning here. If its name is almost one that
// has, it is refused: Go and .NET read "Metadata" as metadata. A value that holds
// nothing does no harm, and frameworks say "Message" in their errors.
func (r *carrierReader) other(name []byte) {
	s := r.s
	if kind := s.Kind(); (kind == '{' || kind == '[') && !lowercase(name) {
		if sp, f := carrierNames.Find(name); sp != nil && f == fieldNone {
			s.Refuse(Errorf(InvalidParams, "a member's name, before byte %d, is not quite %q", s.Pos, sp.Camel))
		}
	}
	s.Skip()
}

// lowercase reports whether a name is spelled as the tables spell names of one word.
func lowercase(name []byte) bool {
	for _, c := range name {
		if c < 'a' || 'z' < c {
			return false
		}
	}
	return true
}
