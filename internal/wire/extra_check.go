package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

const (
	longestMethod = 128 // bytes of a method's name, which becomes a label of metrics
	longestRPC    = 256 // bytes of a path
)

// checkExtra refuses a row that is wrong in itself.
//
// A registration comes from the configuration; an error stops the start or the reload, and the old
// table stays.
func checkExtra(m *Method) error {
	switch {
	case m.Extension == "", len(m.Extension) > LongestURI:
		return errors.New("the extension's URI is missing or too long")
	case m.V01 != "" || m.Path03 != "" || m.GRPC03 != "" || m.Push:
		return errors.New("only A2A's own methods have other names in older versions, or are about push configs")
	case m.Subject < OfMessage || m.Subject > OfAgent || m.Subject == OfConfig:
		return errors.New("what it is about is missing, or not for extensions")
	}
	return errors.Join(checkMethodName(m.Name), checkTaskField(m), checkVerbs(m), checkRPC(m))
}

// checkMethodName keeps to what is printed alike everywhere: a look-alike letter would
// be another method to policy and the same one to its author.
//
//	acme/notes, acme.notes:list     good
//	rpc.discover                    refused: JSON-RPC 2.0 §4 keeps "rpc." to itself
//	"notes ", "nötes"               refused: not printed alike everywhere
func checkMethodName(name string) error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	switch {
	case name == "" || len(name) > longestMethod || strings.ContainsFunc(name, odd):
		return fmt.Errorf("a name is 1 to %d printable ASCII characters without spaces, quotes and backslashes", longestMethod)
	case len(name) >= 4 && strings.EqualFold(name[:4], "rpc."):
		return errors.New("JSON-RPC keeps names that begin with rpc. to itself")
	}
	return nil
}

// checkVerbs refuses a row whose verbs and path do not go together, and every verb but GET and
// POST.
//
// Other verbs than GET and POST are left to A2A's own paths: PUT and PATCH would need rules of their
// own about what may be repeated (RFC 9110 §9.2.2).
func checkVerbs(m *Method) error {
	if m.Path == "" && len(m.Verbs) == 0 {
		return nil
	}
	var errs []error
	if m.Path == "" || len(m.Verbs) == 0 {
		errs = append(errs, errors.New("a verb and a path come together"))
	}
	for i, verb := range m.Verbs {
		switch {
		case verb != "GET" && verb != "POST", slices.Contains(m.Verbs[:i], verb):
			errs = append(errs, fmt.Errorf("verb %q is neither GET nor POST, or is given twice", verb))
		case verb == "GET" && m.Subject == OfMessage:
			errs = append(errs, errors.New("a GET has no message"))
		}
	}
	if m.Path != "" {
		errs = append(errs, checkTemplate(m.Path))
	}
	return errors.Join(errs...)
}

// checkRPC refuses an RPC that nothing can be proved about. The tags of reserved
// numbers are no fields.
//
// Tags 19000 to 19999 are protobuf's own ("Assigning Field Numbers"), and no parser takes a field under
// one of them.
func checkRPC(m *Method) error {
	tag := protowire.Number(m.TaskTag) //nolint:gosec // its bounds are checked below
	reserved := tag >= protowire.FirstReservedNumber && tag <= protowire.LastReservedNumber
	switch {
	case m.TaskTag != 0 && (m.RPCPath == "" || m.TaskTag < 0 || m.TaskTag > int(protowire.MaxValidNumber) || reserved):
		return errors.New("the field that names the task has no such number, or no RPC")
	case m.RPCPath == "":
		return nil
	case m.Subject == OfTask && m.TaskTag == 0:
		return errors.New("an RPC about a task needs taskTag, the number of the field that names it")
	case m.Subject == OfMessage || m.Subject == OfCaller:
		return errors.New("a gRPC message cannot be searched for messages and tasks: the RPC can only be about the agent or one task")
	}
	service, name, ok := strings.Cut(strings.TrimPrefix(m.RPCPath, "/"), "/")
	if !ok || m.RPCPath[0] != '/' || len(m.RPCPath) > longestRPC || !isWord(name, "_") || !isService(service) {
		return fmt.Errorf("%q is no path of an RPC: it is /package.Service/Method", m.RPCPath)
	}
	prefix, lower := "/"+service+"/", strings.ToLower("/"+service+"/")
	switch {
	case strings.HasPrefix(lower, "/grpc."):
		return errors.New("gRPC keeps services that begin with grpc. to itself")
	case lower == strings.ToLower(service03), lower == strings.ToLower(service10) && prefix != service10:
		return fmt.Errorf("%q could be taken for A2A's service", m.RPCPath)
	}
	return nil
}

// isService reports whether s is a full name of a gRPC service: words with dots between them.
func isService(s string) bool {
	for piece := range strings.SplitSeq(s, ".") {
		if !isWord(piece, "_") {
			return false
		}
	}
	return true
}

// isWord reports whether s is a letter and then letters, digits and characters of
// others.
func isWord(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		inside := '0' <= c && c <= '9' || strings.IndexByte(others, c) >= 0
		if !letter && (i == 0 || !inside) {
			return false
		}
	}
	return s != ""
}

// takenNames are the names of JSON-RPC and the paths of gRPC that somebody has, as the
// most lenient parser would see them.
type takenNames struct{ methods, rpcs map[string]string }

// coreNames are those of every version of A2A.
func coreNames() takenNames {
	t := takenNames{make(map[string]string), make(map[string]string)}
	for name := range methodNames {
		t.methods[foldedName(name)] = name
	}
	for i := range methods {
		if name := methods[i].GRPC03; name != "" {
			t.methods[foldedName(name)] = name
		}
	}
	for _, name := range t.methods { // under this service, older names too
		t.rpcs[foldedName(service10+name)] = service10 + name
	}
	return t
}

// claim takes the names of a row, which nobody else may have.
//
//	"SendMessage", "sendmessage", "send_message"     all taken: they fold into the same letters
//	"acme/notes", "acme.notes"                        each takes the other
func (t takenNames) claim(m *Method) error {
	return errors.Join(take(t.methods, m.Name), take(t.rpcs, m.RPCPath))
}

// take enters a name, unless it is there, or one that folds into the same letters.
func take(taken map[string]string, name string) error {
	folded := foldedName(name)
	switch other, ok := taken[folded]; {
	case !ok || name == "":
	case other == name:
		return fmt.Errorf("%q is taken", name)
	default:
		return fmt.Errorf("%q could be taken for %q", name, other)
	}
	taken[folded] = name
	return nil
}

// foldedName is fold, without what separates the pieces of a name.
func foldedName(name string) string {
	folded := string(jsonscan.Fold(nil, []byte(name), len(name)))
	return strings.NewReplacer("/", "", ".", "", ":", "").Replace(folded)
}
