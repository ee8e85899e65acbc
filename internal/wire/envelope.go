package wire

// envelopePaths are those of HTTP+JSON that clients post JSON-RPC requests to: agno's to its
// own card's paths, python-a2a's to 0.1's methods.
var envelopePaths = map[string]bool{
	"/v1/message:send": true, "/v1/message:stream": true, "/message:send": true, "/message:stream": true,
	"/tasks/send": true, "/tasks/get": true, "/tasks/cancel": true,
}

// TakesEnvelopes reports whether a JSON-RPC request may stand in the body of a POST to a path
// below an agent's base.
//
// The path is that of the request, percent-encoded as it came; no such path has anything to encode.
//
// A body of JSON-RPC at such a path would otherwise be read as HTTP+JSON and be refused for members
// that HTTP+JSON does not have.
func TakesEnvelopes(path string) bool { return envelopePaths[path] }

// IsEnvelope reports whether a body is a JSON-RPC request, of whatever method: an object that
// has a protocol and a method. No request of HTTP+JSON has either. What their values hold is
// not looked at: where they are no JSON, the body's reader says so.
//
// Values are passed over by their brackets, so the answer costs one look at each byte and is no way
// to make the gateway parse a body twice.
func IsEnvelope(body []byte) bool {
	s := NewScanner(body, Limits{Depth: 1, Members: len(body) + 1})
	defer s.Release()
	if s.Kind() != '{' {
		return false
	}
	var protocol, method bool
	for s.Enter(); s.More(); {
		name := string(s.Name())
		protocol, method = protocol || name == "jsonrpc", method || name == "method"
		s.ForgetNames() // there may be very many
		s.Pass()
	}
	return Finish(s) == nil && protocol && method
}

// idBeyond finds the id of a JSON-RPC call whose document is beyond a limit, so that the
// refusal can be told from those of other calls. The document is not held to limits here, and
// what is within the call's members is passed over by its brackets: one look at each byte,
// whatever the depth. It is nil where no id can be had, or where parsers would differ on
// which it is.
func idBeyond(doc []byte, lim Limits) []byte {
	s := NewScanner(doc, Limits{Depth: 1, Members: len(doc) + 1})
	defer s.Release()
	if s.Kind() != '{' {
		return nil
	}
	var id []byte
	found := 0
	for s.Enter(); s.More(); {
		like, field := envelopeNames.Find(s.Name())
		is := field == fieldRequestID
		if is || like != nil && like.Camel == "id" { // a name that is almost that is to some parsers
			found++
		}
		s.ForgetNames() // there may be very many
		kind := s.Kind()
		start := s.Pos // behind the space
		s.Pass()
		if is && !s.Failed() && mayBeID(kind, doc[start:s.Pos], lim) {
			id = doc[start:s.Pos]
		}
	}
	if Finish(s) != nil || found != 1 {
		return nil
	}
	return id
}

// mayBeID reports whether a value is an id as JSON-RPC has them, of no more than the length
// that ids may have.
//
// JSON-RPC 2.0 §4: a string, a number or null. Length is counted in bytes of the document, so that
// what comes back is never longer than what was sent.
func mayBeID(kind byte, value []byte, lim Limits) bool {
	switch kind {
	case '"':
		return len(value)-2 <= lim.IDLength
	case '0':
		return len(value) <= lim.IDLength
	}
	return kind == 'n'
}
