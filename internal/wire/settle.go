package wire

import "strings"

// spoken is the meaning of a JSON-RPC method name when only the name is known.
type spoken struct {
	method  *Method
	version Version
	shared  bool // 0.1 and 0.3 have the name in common; version is V03
}

// methodNames finds what a method name means in any version. The versions'
// names are disjoint but for three that 0.1 and 0.3 share.
var methodNames = indexMethods()

// indexMethods lists every name with the version it belongs to. For those that 0.1 and 0.3 share, 0.3
// is entered last, and so stands.
func indexMethods() map[string]spoken {
	index := make(map[string]spoken, 3*len(methods))
	for i := range methods {
		m := &methods[i]
		index[m.Name] = spoken{method: m, version: V10}
		if m.V01 != "" {
			index[m.V01] = spoken{method: m, version: V01}
		}
		if m.V03 != "" {
			index[m.V03] = spoken{method: m, version: V03, shared: m.V03 == m.V01}
		}
		if m.Also03 != "" {
			index[m.Also03] = spoken{method: m, version: V03}
		}
	}
	return index
}

// method reads the method name and what it says about the version. This is the
// one place where a JSON-RPC name is looked up: A2A's own first, then those of
// extensions, both byte for byte.
//
//	"SendMessage"   1.0     "message/send"   0.3     "tasks/send"   0.1
//	"tasks/get"     0.3, or 0.1 where the header says so
func (d *decoder) method() {
	if d.Kind() != '"' {
		d.Skip()
		d.notCall("method is not a string")
		return
	}
	c, name := d.call, d.Text()
	means, ok := methodNames[string(name)]
	if !ok {
		means, ok = c.Extra.spoken(name, d.header)
	}
	if !ok {
		d.unknownMethod(string(name))
		return
	}
	c.Method, c.Version, c.Streaming = means.method, means.version, means.method.Streams
	d.shared = means.shared
	switch {
	case d.header == "" || d.header == means.version:
	case d.header == V01 && means.shared:
		c.Version = V01
	default:
		d.Refuse(Errorf(VersionUnsupported,
			"method %q belongs to A2A %s, but A2A-Version says %s", name, means.version, c.spelled(d.header)))
	}
}

// unknownMethod refuses a name that no version knows, and guesses the version
// from the style of it so that the refusal can be read by who sent it.
func (d *decoder) unknownMethod(name string) {
	if d.call.Version == "" {
		d.call.Version = V10
		if strings.Contains(name, "/") {
			d.call.Version = V03
		}
	}
	if len(name) > 64 {
		name = name[:64]
	}
	d.Refuse(Errorf(MethodNotFound, "Method not found: %q", name))
}

// settle decides between 0.1 and 0.3 for the names they share when no header
// does: only 0.1's resubscribe has a historyLength.
//
// A call that could be either stays 0.3, with Call.Shared set: which agents have the task decides
// later, in proxy.
//
//	tasks/get          0.1 and 0.3: {"id":"T","historyLength":1} is in both
//	tasks/cancel       0.1 and 0.3
//	tasks/resubscribe  0.1 has historyLength, 0.3 has not
func (d *decoder) settle() {
	c := d.call
	if !d.shared || d.header != "" {
		return
	}
	if d.history && c.Method.Name == SubscribeToTask {
		c.Version = V01
		return
	}
	c.Shared = true
}

// requestID reads the envelope's id and keeps its bytes, because clients compare
// what comes back with what they sent: 2^53+1 must not become 2^53, nor 1.50 become 1.5. Null is
// an id: JSON-RPC 2.0 §4 advises against it, and against fractions, and permits both.
func (d *decoder) requestID() {
	kind := d.Kind()
	start, end := d.Skip()
	id := d.Doc[start:end]
	switch {
	case d.Failed():
	case mayBeID(kind, id, d.lim):
		d.call.ID = id
	case kind == '"', kind == '0':
		d.Refuse(Errorf(InvalidRequest, "id is longer than %d bytes", d.lim.IDLength))
	default:
		d.notCall("id is neither a string nor a number nor null")
	}
}
