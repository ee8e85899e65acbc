package wire

import "google.golang.org/protobuf/encoding/protowire"

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
	d := decoder{Scanner: newScanner(nil, lim), call: c, lim: lim, header: header}
	defer d.Release()
	d.taskField(c.Message)
	d.required()
	return d.finish()
}

// taskField walks over the message's fields and takes the task's id from the one that
// names it. Given twice, parsers take the last; but not all, and not in an extension's
// own parser.
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
			d.invalid("the task id is given twice, or is not a string")
			return
		}
		seen = true
		id, _ := protowire.ConsumeBytes(value)
		d.agree(&d.call.TaskID, string(id), "the task id", d.lim.IDLength)
	}
}
