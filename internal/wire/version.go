package wire

import (
	"strconv"
	"strings"
)

// Version is an A2A protocol version as it is written on the wire: "Major.Minor".
// The patch number never takes part in negotiation (A2A 1.0 §3.6).
//
// How a request says it: the header A2A-Version or a query parameter of that name in 1.0; not at all
// before, where the method's name or the path tells. How a card says it: protocolVersion of each
// interface in 1.0, of the whole card in 0.2.5 and 0.3, nowhere in 0.1.
type Version string

// The versions that agents and clients speak. 0.2 is not listed: its messages are
// those of 0.3 (the later version only added optional members), so it is V03
// everywhere but in cards. There was never a released 0.4 to 0.9.
const (
	V01 Version = "0.1" // slash methods tasks/send…, client-chosen task ids
	V03 Version = "0.3" // slash methods message/send…, objects with "kind"
	V10 Version = "1.0" // PascalCase methods, ProtoJSON objects
)

// ParseVersion reads a version from an A2A-Version header, query parameter or
// card. "1.0.1" is V10, "0.2.6" is V03. An empty string is V03, because A2A 1.0
// §3.6.2 says that a request without a version is a 0.3 request. The second
// result is false for a version nobody released and for anything that is not
// two or three dot-separated numbers.
//
//	"1.0", " 1.0 ", "1.0.1"     V10
//	"0.3", "0.2.6", ""          V03
//	"1", "1.00", "1.1", "v1.0"  not ok
func ParseVersion(s string) (Version, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return V03, true
	}
	major, rest, ok := strings.Cut(s, ".")
	minor, patch, patched := strings.Cut(rest, ".")
	if !ok || !isNumber(major) || !isNumber(minor) || patched && !isNumber(patch) {
		return "", false
	}
	switch major + "." + minor {
	case "0.1":
		return V01, true
	case "0.2", "0.3":
		return V03, true
	case "1.0":
		return V10, true
	}
	return "", false
}

// isNumber accepts what strconv would print again unchanged: no sign, no space,
// no leading zero, so that "1.00" is not a second spelling of "1.0".
func isNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// Binding is one of the three ways to carry an A2A call.
//
// A call is the same in all of them but for where things stand: JSON-RPC has the operation in the
// envelope and everything else in params, HTTP+JSON has operation and ids in the path, gRPC the
// operation in the path and everything else in a protobuf message.
type Binding uint8

// The bindings, spelled by String as cards spell them (AgentInterface.protocolBinding).
const (
	JSONRPC  Binding = iota + 1 // JSON-RPC 2.0 over HTTP POST
	HTTPJSON                    // resources and verbs, ProtoJSON bodies
	GRPC                        // lf.a2a.v1.A2AService, a2a.v1.A2AService
)

// MCP is what rules and records call the binding of a tool call of the Model Context Protocol, which
// the gateway makes an A2A call of. It is no binding of A2A: no card names it, and the documents of
// such a call are those of JSONRPC.
const MCP Binding = GRPC + 1

var bindingNames = [...]string{JSONRPC: "JSONRPC", HTTPJSON: "HTTP+JSON", GRPC: "GRPC", MCP: "MCP"}

// String returns the card spelling, or "" for the zero Binding.
func (b Binding) String() string {
	if int(b) >= len(bindingNames) {
		return ""
	}
	return bindingNames[b]
}

// ParseBinding is the inverse of String. Cards in the field differ in case, so
// case is ignored.
//
//	"JSONRPC", "jsonrpc"   JSONRPC
//	"HTTP+JSON"            HTTPJSON
//	"grpc"                 GRPC
//	"websocket"            0, false: a card may name bindings that A2A does not define
func ParseBinding(s string) (Binding, bool) {
	for b, name := range bindingNames[:MCP] {
		if name != "" && strings.EqualFold(s, name) {
			return Binding(b), true
		}
	}
	return 0, false
}

// Document is the binding that the documents of a call are written in: JSONRPC for MCP, else b.
func (b Binding) Document() Binding {
	if b == MCP {
		return JSONRPC
	}
	return b
}

// Side is one way to speak A2A: a version, carried by a binding.
type Side struct {
	Version Version
	Binding Binding
}

// String is for people: "1.0 JSONRPC".
func (s Side) String() string { return string(s.Version) + " " + s.Binding.String() }
