package wire

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
	d := decoder{Scanner: newScanner(c.Body, lim), call: c, lim: lim, header: header}
	defer d.Release()
	d.object(d.table())
	c.MayCarry, c.MayFile = mayHold(d.Scanner)
	if !d.Failed() {
		d.required()
	}
	return d.finish()
}
