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
func TakesEnvelopes(path string) bool { return envelopePaths[path] }

// IsEnvelope reports whether a body is a JSON-RPC request, of whatever method: an object that
// has a protocol and a method. No request of HTTP+JSON has either. What their values hold is
// not looked at: where they are no JSON, the body's reader says so.
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
