package message

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Read reads what the call brings for the agent, in 1.0's words. It is nil for
// calls without a message, and for extensions' methods on gRPC, whose messages nobody
// here can read. The call has been decoded before; the ids are those that it has now.
//
// It is stricter than decoding, because judges go by what it says: what one agent would
// read in one way and another in another is refused as InvalidParams. That is a part
// that is several things, or not what its kind says; a member that means something in
// another version only, or is almost one that means something; a number beyond float64.
// A document of more values than anybody needs is TooLarge. Half a surrogate pair reads
// as U+FFFD; whoever has judged it should send on what was judged (Mend).
func Read(c *wire.Call) (*wire.Message, *wire.Error) {
	if c.Method == nil || c.Method.Subject != wire.OfMessage || len(c.Params) == 0 {
		return nil, nil
	}
	r := messageReader{call: c, m: &wire.Message{
		ID: c.MessageID, TaskID: c.TaskID, ContextID: c.ContextID,
		Extensions: slices.Clone(c.MessageExtensions), ReferenceTaskIDs: slices.Clone(c.ReferenceTaskIDs),
	}}
	// Decoding has held the document to the limits that count.
	r.Scanner = wire.Rescan(jsonscan.Mend(c.Params))
	defer r.Release()
	if r.Kind() == '{' {
		r.arguments()
	} else {
		r.Skip()
	}
	if e := r.End(); e != nil {
		return nil, e
	}
	return r.m, nil
}

// messageReader is the state of one Read.
type messageReader struct {
	wire.Reader
	call   *wire.Call
	m      *wire.Message
	values int // read into m so far
}

// arguments reads the params.
//
//	{"message":{…},"configuration":{"acceptedOutputModes":["text/plain"]},"metadata":{…}}
func (r *messageReader) arguments() {
	n := r.argumentTable()
	var seen uint32
	for r.Enter(); r.More(); {
		switch r.Member(n, &seen) {
		case fieldMessage:
			if r.IsObject("message") {
				r.body()
			}
		case fieldConfiguration:
			if r.IsObject("configuration") {
				r.settings()
			}
		case fieldMetadata:
			r.m.CallMetadata = r.marks("metadata")
		case fieldModes:
			r.modes()
		default:
			r.Skip()
		}
	}
}

// settings reads the configuration of a send.
func (r *messageReader) settings() {
	var seen uint32
	for r.Enter(); r.More(); {
		if r.Member(settingNames, &seen) == fieldModes {
			r.modes()
		} else {
			r.Skip()
		}
	}
}

// modes reads what the caller accepts. An empty list says nothing: ProtoJSON cannot
// tell it from none.
func (r *messageReader) modes() {
	list := r.Words("acceptedOutputModes", wire.LongestURI)
	if list != nil && r.m.OutputModes != nil {
		r.Invalid("acceptedOutputModes is given twice")
	}
	if list != nil {
		r.m.OutputModes = list
	}
}

// body reads the message itself.
func (r *messageReader) body() {
	var seen uint32
	parts := false
	for r.Enter(); r.More(); {
		switch r.Member(bodyNames, &seen) {
		case fieldRole:
			r.m.Role = r.role()
		case fieldMetadata:
			r.m.Metadata = r.marks("metadata")
		case fieldParts:
			if r.Kind() != '[' { // decoding has refused all but null
				r.Skip()
				continue
			}
			if parts {
				r.Invalid("parts are given twice")
			}
			for r.Enter(); r.More(); {
				r.part()
			}
			parts = true
		default:
			r.Skip()
		}
	}
}

// role reads a role in the words of any version, or as the number that ProtoJSON allows
// for an enum.
func (r *messageReader) role() string {
	if r.Kind() == '"' {
		switch string(r.Text()) {
		case "user", "ROLE_USER":
			return "ROLE_USER"
		case "agent", "ROLE_AGENT":
			return "ROLE_AGENT"
		}
		return ""
	}
	start, end := r.Skip()
	switch string(r.Doc[start:end]) {
	case "1":
		return "ROLE_USER"
	case "2":
		return "ROLE_AGENT"
	}
	return ""
}
