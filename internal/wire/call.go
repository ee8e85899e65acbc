package wire

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Limits bound what one document may be. A field that is zero has its default.
type Limits struct {
	Body     int64 // bytes of the document; default 4 MiB
	Depth    int   // objects and arrays inside each other; default 64
	Members  int   // members of one object, elements of one array; default 10,000
	Parts    int   // parts of one message; default 1,000
	IDLength int   // bytes of an id: JSON-RPC's, a task's, context's, message's, config's; default 256
}

// withDefaults fills in what the configuration leaves open (server.limits).
func (l Limits) withDefaults() Limits {
	if l.Body == 0 {
		l.Body = 4 << 20
	}
	if l.Depth == 0 {
		l.Depth = 64
	}
	if l.Members == 0 {
		l.Members = 10_000
	}
	if l.Parts == 0 {
		l.Parts = 1_000
	}
	if l.IDLength == 0 {
		l.IDLength = 256
	}
	return l
}

// SkillSelection is the extension by which a caller says which of the agent's
// skills a call is for. It is both the URI and the metadata key; the value is
// the skill's id, a string.
const SkillSelection = "https://a2a-gateway.dev/extensions/skill-selection/v1"

// Call is one request as the gateway sees it: which operation, of which version
// and binding, about which task and context. Everything else stays in Body,
// which is what goes on to the agent.
//
// The strings are unescaped, valid UTF-8, without control characters, and at
// most Limits.IDLength long; "" is absent, null or empty, which no version of
// A2A tells apart.
type Call struct {
	Binding   Binding
	Version   Version // settled; on a refusal before that, the best guess for rendering it
	Method    *Method
	Streaming bool // Method.Streams

	// Shared says that 0.1 and 0.3 have the JSON-RPC method name in common and that
	// nothing in the request tells which of the two it is; Version is V03 then.
	Shared bool

	// Mixed says that the caller reads 1.0's objects with the words that 0.3 has for roles and
	// states, as who calls 0.3's methods with 1.0's objects; Version is V10 then. Set by the
	// caller of this package; decoding leaves it out.
	Mixed bool

	ID      []byte // JSON-RPC id, verbatim sub-slice of Body, maybe null; nil before decode and on other bindings
	Body    []byte // the request body, forwarded untouched; on gRPC the message as ProtoJSON
	Params  []byte // verbatim sub-slice of Body: JSON-RPC's params, else the whole body; nil when absent
	Message []byte // gRPC: the protobuf message as it came, without its frame; else nil
	Accept  string // Accept header of the request; set by the caller, decoding leaves it alone
	Spelled string // the version as the request spells it, for refusals; set by the caller, decoding leaves it alone
	Extra   *Extra // methods beside A2A's own; set by the caller, decoding leaves it alone

	Tenant    string // path segment, query or member
	MessageID string // message.messageId
	TaskID    string // the task the request names, wherever its version puts it (params.id for 0.1's sends)
	ContextID string // message.contextId, 0.1's sessionId, or the filter of ListTasks
	ConfigID  string // push notification config of an OfConfig method
	Skill     string // metadata[SkillSelection] of the params, the message or both, which must agree
	PageToken string // of the list methods

	ReferenceTaskIDs  []string // message.referenceTaskIds
	MessageExtensions []string // message.extensions
	HasPushConfig     bool     // a webhook comes with this call: inline in a send, or a push create

	Hints
	spans
}

// Unload lets go of the body, which may be large, and of all that are pieces of it. What was found in
// it stays, and so does a copy of the id.
func (c *Call) Unload() {
	c.ID = bytes.Clone(c.ID)
	c.Body, c.Params, c.Message, c.Long = nil, nil, nil, nil
}

// Hints are what one pass over a document tells of a second one: that it would find nothing. They are
// true far more often than there is anything, and never false where there is.
type Hints struct {
	// MayCarry says that a member of the document, wherever it stands, is called metadata or
	// extensions, or almost. Without one ReadCarriers finds no Mark, nor a member that
	// might be taken for one: most calls are like that, and extensions cost them nothing.
	MayCarry bool

	// MayFile says that a member of the document, wherever it stands, is called as the one that
	// makes a file of a part in some version, or almost. Without one there is no File.
	MayFile bool

	// MayHalf says that an escape in the document is half a surrogate pair, so that jsonscan.Mend
	// finds something.
	MayHalf bool
}

// spans are where a call's body holds what the gateway replaces on the way to the agent, a context
// that belongs to somebody else and the tenant, which is the interface's (A2A 1.0 §4.4.6), and what it
// need not read again. Each is
// from the first byte of the JSON string, its quote, to behind the last: Body[span[0]:span[1]].
type spans struct {
	// ContextSpan is where Body holds the value of ContextID. It is {0, 0} when ContextID is empty
	// or came from the query. ContextCopies are where else Body has it.
	ContextSpan   [2]int
	ContextCopies [][2]int

	// TenantSpans are where Body holds the values of Tenant: one
	// for the call, and one for a push config inside it that repeats it. Absent,
	// null and empty values have none.
	TenantSpans [][2]int

	// Long are long strings, which Carriers passes over; nil for none.
	Long *jsonscan.LongStrings
}

// Changed takes from another reading of the call what it has found in its body, which is in the place of
// the one that came.
func (c *Call) Changed(now *Call) {
	c.MessageExtensions, c.Hints, c.spans = now.MessageExtensions, now.Hints, now.spans
}

// DecodeJSONRPC reads a JSON-RPC request body (JSON-RPC 2.0 §4, A2A 1.0 §9) and
// settles which version it is. header is what RequestVersion found. The body
// is scanned once and kept; ID and Params point into it.
//
// An extension's method has the same name in every version, so only header can say
// which it is; without one it is V03 (A2A 1.0 §3.6.2).
//
// On an error the Call holds whatever could be read, so that the error can be
// answered in the caller's shape and with the caller's id. A body that is not
// strict JSON is a parseError without id, one that is beyond a limit has its id
// where that can be told; an envelope that is not a call is InvalidRequest,
// params that do not fit the method are InvalidParams.
//
// The scan is one pass. In the common order of members, params are read where they stand; a body with
// params before method, as Go's encoder of maps writes it, has that piece read twice.
//
//	{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"T"}}
//	Call{Binding: JSONRPC, Version: "1.0", Method: GetTask, ID: `7`, Params: `{"id":"T"}`, TaskID: "T"}
func (c *Call) DecodeJSONRPC(body []byte, header Version, lim Limits) *Error {
	*c = Call{Binding: JSONRPC, Version: header, Body: body, Accept: c.Accept, Spelled: c.Spelled, Extra: c.Extra}
	lim = lim.withDefaults()
	if int64(len(body)) > lim.Body {
		c.ID = idBeyond(body, lim)
		return Errorf(TooLarge, "the request body is larger than %d bytes", lim.Body)
	}
	d := decoder{Reader: Reader{Scanner: NewScanner(body, lim)}, call: c, lim: lim, header: header}
	defer d.Release()
	d.NoteLong()
	if d.Kind() == '{' {
		d.envelope()
	} else {
		d.Skip()
		d.notCall("it is not a single call object; batches are not accepted")
	}
	c.Hints, c.Long = hintsOf(d.Scanner), d.Long()
	e := d.End()
	if e != nil && e.Kind == parseError {
		c.ID = nil // JSON-RPC 2.0 §5: null when the request could not be parsed
		if d.Limit() != "" {
			c.ID = idBeyond(body, lim)
		}
	}
	return e
}

// decoder reads one request into a Call.
//
// The lower half is Reader, which knows members and not what they are for. What is here is the state
// that the rules of calls need until the last member has been seen, since members come in any order.
type decoder struct {
	Reader
	call   *Call
	lim    Limits
	header Version

	shared     bool // 0.1 and 0.3 share the method's name
	history    bool // params.historyLength was given
	hasMessage bool
	pushes     int // push configs around the cursor

	// What a push config inside a send names.
	pushTask, pushTenant, pushConfig string

	// What members name that the version does not define.
	otherTask, otherContext stray
}

// envelope reads the request object. Its members may come in any order, but
// how params are read depends on the method; params that come before it are
// checked where they stand and read when the object has ended.
//
//	{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{…}}
//
// A member that JSON-RPC 2.0 §4 does not define is refused: it might be one that some server of
// the agent's reads, and the gateway does not.
func (d *decoder) envelope() {
	c := d.call
	var early [2]int
	var bits, seen uint32
	for d.Enter(); d.More(); {
		f := d.Member(envelopeNames, &bits)
		again := seen&(1<<f) != 0
		seen |= 1 << f
		switch {
		case f == fieldRequestID:
			if d.requestID(); again {
				c.ID = nil // which of the two is not ours to choose
			}
		case f == fieldProtocol:
			if !d.isText("2.0") {
				d.notCall(`jsonrpc is not "2.0"`)
			}
		case f == fieldMethod && !again:
			d.method()
		case f == fieldParams && c.Method != nil:
			start, end := d.params()
			c.Params = c.Body[start:end]
		case f == fieldParams:
			early[0], early[1] = d.Skip()
			c.Params = c.Body[early[0]:early[1]]
		default:
			d.Skip()
			d.notCall("the request has a member that JSON-RPC does not define")
		}
	}
	if d.Failed() {
		return
	}
	if early[1] > 0 && c.Method != nil {
		d.reread(early)
	}
	d.complete(seen)
}

// reread reads params that were passed over before the method was known.
//
// The document is cut short behind them, so that the scanner cannot run on into what follows.
func (d *decoder) reread(span [2]int) {
	doc, pos := d.Doc, d.Pos
	d.Doc, d.Pos = doc[:span[1]], span[0]
	d.params()
	d.Doc, d.Pos = doc, pos
}

// complete refuses an envelope that has ended without what a call needs.
//
// JSON-RPC 2.0 §4 lets a request without id be a notification, which nobody answers. A2A has none
// (A2A 1.0 §9.3), so a missing id is an error that can be answered, with id null.
func (d *decoder) complete(seen uint32) {
	switch {
	case seen&(1<<fieldProtocol) == 0:
		d.notCall("jsonrpc is missing")
	case seen&(1<<fieldMethod) == 0:
		d.notCall("method is missing")
	}
	if d.call.Method != nil {
		d.settle()
		d.required()
	}
	if seen&(1<<fieldRequestID) == 0 {
		// A2A has no notifications, and agents carry them out all the same. What is wrong with
		// the params is said first, as agents do.
		d.notCall("id is missing")
	}
}
