package wire

import "strings"

// The gRPC services. 1.0's release candidate was called as 0.3 is, with other
// field numbers behind the same names; its few implementations are not spoken to.
const (
	service10 = "/lf.a2a.v1.A2AService/"
	service03 = "/a2a.v1.A2AService/"
)

// rpcs finds an operation by the path of its RPC.
var rpcs = indexRPCs()

// indexRPCs goes through the table once, when the program starts.
func indexRPCs() map[string]*Method {
	index := make(map[string]*Method, 2*len(methods))
	for i := range methods {
		m := &methods[i]
		for _, v := range []Version{V10, V03} {
			if path := m.RPC(v); path != "" {
				index[path] = m
			}
		}
	}
	return index
}

// ByRPC finds the operation behind the path of a gRPC request, such as
// "/lf.a2a.v1.A2AService/SendMessage"; the service says which version it is. ok is
// false for a path of no A2A service. A service without such an RPC gives its
// version and a nil Method.
func ByRPC(path string) (m *Method, v Version, ok bool) {
	switch {
	case strings.HasPrefix(path, service10):
		v = V10
	case strings.HasPrefix(path, service03):
		v = V03
	default:
		return nil, "", false
	}
	return rpcs[path], v, true
}

// RPC is the path of the operation's RPC in a version, or "" where the version has
// no gRPC or no such RPC. An extension's is of V10.
func (m *Method) RPC(v Version) string {
	switch {
	case m.Extension != "" && v == V10:
		return m.RPCPath
	case m.Extension != "":
	case v == V10 && m.Name != "":
		return service10 + m.Name
	case v == V03 && m.GRPC03 != "":
		return service03 + m.GRPC03
	}
	return ""
}
