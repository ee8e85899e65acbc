package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeGRPC reads a gRPC request: the operation and version that ByRPC found, the
// one message of its body without its frame, and what RequestVersion found in the
// metadata. Body and Params become the message's ProtoJSON document, which is read
// as strictly as an HTTP+JSON body; Message stays what goes on to an agent of the
// same version. All parsers of that version read it as the document says (see
// checkMessage). Of the message of an extension's RPC nothing is known but the field
// that names the task; Body and Params stay nil.
//
// A message that cannot be read is an InvalidRequest. On an error the Call holds
// whatever could be read.
//
// The order of the checks is that of their cost: the version and the size are compared before the
// message is walked over, and that before anything is allocated for it.
//
//	/lf.a2a.v1.A2AService/GetTask   0a 01 54   (field 1, a string: "T")
//	Body and Params                 {"id":"T"}
//	Message                         0a 01 54
func (c *Call) DecodeGRPC(m *Method, v Version, message []byte, header Version, lim Limits) *Error {
	*c = Call{Binding: GRPC, Version: v, Method: m, Message: message, Accept: c.Accept, Spelled: c.Spelled, Extra: c.Extra}
	lim = lim.withDefaults()
	if m == nil || !c.Extra.knows(m) {
		return Errorf(MethodNotFound, "")
	}
	c.Streaming = m.Streams
	if m.Extension != "" {
		return c.extraMessage(header, lim)
	}
	t, err := m.types(v)
	switch {
	case err != nil:
		return Errorf(MethodNotFound, "").Because(err)
	case header != "" && header != v:
		return Errorf(VersionUnsupported,
			"the service belongs to A2A %s, but a2a-version says %s", v, c.spelled(header))
	case int64(len(message)) > lim.Body:
		return Errorf(TooLarge, "the request message is larger than %d bytes", lim.Body)
	}
	if c.Body, err = documentOf(t.request, message, lim); err != nil {
		return Errorf(InvalidRequest, "Request payload validation error: not a valid %s message",
			t.request.Descriptor().Name()).Because(err)
	}
	c.Params = c.Body
	d := decoder{Reader: Reader{Scanner: NewScanner(c.Body, lim)}, call: c, lim: lim, header: header}
	defer d.Release()
	d.object(d.table())
	c.Hints = hintsOf(d.Scanner)
	if !d.Failed() {
		d.required()
	}
	return d.End()
}

// extraMessage is the rest of DecodeGRPC for the RPC of an extension.
func (c *Call) extraMessage(header Version, lim Limits) *Error {
	switch {
	case c.Method.RPCPath == "":
		return Errorf(MethodNotFound, "")
	case header != "" && header != c.Version:
		return Errorf(VersionUnsupported,
			"the service belongs to A2A %s, but a2a-version says %s", c.Version, c.spelled(header))
	case int64(len(c.Message)) > lim.Body:
		return Errorf(TooLarge, "the request message is larger than %d bytes", lim.Body)
	}
	d := decoder{Reader: Reader{Scanner: NewScanner(nil, lim)}, call: c, lim: lim, header: header}
	defer d.Release()
	d.taskField(c.Message)
	d.required()
	return d.End()
}

// taskField walks over the message's fields and takes the task's id from the one that
// names it. Given twice, parsers take the last; but not all, and not in an extension's
// own parser.
//
// The field is numbered in the extension's registration (taskTag), as no proto file of it is here.
func (d *decoder) taskField(message []byte) {
	seen := false
	for b := message; len(b) > 0; {
		number, kind, head := protowire.ConsumeTag(b)
		size := head
		if head > 0 {
			size = protowire.ConsumeFieldValue(number, kind, b[head:])
		}
		if size < 0 {
			d.Refuse(Errorf(InvalidRequest, "Request payload validation error: the message is not protobuf").
				Because(protowire.ParseError(size)))
			return
		}
		value := b[head : head+size]
		b = b[head+size:]
		if int(number) != d.call.Method.TaskTag {
			continue
		}
		if seen || kind != protowire.BytesType {
			d.Invalid("the task id is given twice, or is not a string")
			return
		}
		seen = true
		id, _ := protowire.ConsumeBytes(value)
		d.agree(&d.call.TaskID, string(id), "the task id", d.lim.IDLength)
	}
}
