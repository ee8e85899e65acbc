package wire

import (
	"errors"
	"math"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// NewScanner reads a document of A2A's from its first byte, held to the limits of lim. The
// caller must call Release, and Finish in place of the Scanner's own.
func NewScanner(doc []byte, lim Limits) *jsonscan.Scanner {
	lim = lim.withDefaults()
	return jsonscan.New(doc, lim.Depth, lim.Members, &rules)
}

// Rescan is NewScanner for a document, or the beginning of one, that has been held to the limits
// before: by decoding, or by ReadAnswer.
//
// It is for the second pass over a document. The limits would have refused it the first time.
func Rescan(doc []byte) *jsonscan.Scanner {
	return jsonscan.New(doc, math.MaxInt32, math.MaxInt32, &rules)
}

// MemberOf finds a member of an object that has been read before, and how many
// members there are.
func MemberOf(doc []byte, object [2]int, name string) (value [2]int, n int) {
	return jsonscan.Member(doc, object, name, &rules)
}

// rules are A2A's.
var rules = jsonscan.Rules{
	Mark: markName, Content: holdsContent, Identity: identifies,
	DepthKey: "server.limits.jsonDepth", MembersKey: "server.limits.jsonMembers",
}

// What markName finds in the names of a document.
const (
	nameOfMark uint8 = 1 << iota // of metadata or extensions, or almost
	nameOfFile                   // of what makes a file of a part, or almost
)

// markName keeps what a document may hold, so that most need no second look at all.
func markName(before uint8, name []byte) uint8 {
	if before&nameOfMark == 0 && mayMark(name) {
		before |= nameOfMark
	}
	if before&nameOfFile == 0 && mayFile(name) {
		before |= nameOfFile
	}
	return before
}

// mayMark reports whether a name is that of a member that holds Marks, or one that some
// parsers take for it. It is asked about every name of every document.
func mayMark(name []byte) bool {
	const shortest = len("metadata")
	return len(name) >= shortest && (jsonscan.Resembles(name, "metadata") || jsonscan.Resembles(name, "extensions"))
}

// fileLetter are the first bytes of names that mayFile looks at: it is asked about every
// name of every document, and for nearly all of them that is the end of it.
var fileLetter = func() (first [256]bool) {
	for _, c := range "fFrRuU_-" {
		first[c] = true
	}
	for c := range byte(' ' + 1) {
		first[c] = true // which the most lenient parsers leave out
	}
	return first
}()

// mayFile reports whether a name is that of a member without which a part is no file in
// any version, or one that some parsers take for it.
func mayFile(name []byte) bool {
	const shortest = len("url")
	return len(name) >= shortest && fileLetter[name[0]] && isFile(name)
}

// isFile knows the three members of which a part has one if it is a file: url and raw are 1.0's, and
// file is that of all versions before.
func isFile(name []byte) bool {
	return jsonscan.Resembles(name, "url") || jsonscan.Resembles(name, "raw") || jsonscan.Resembles(name, "file")
}

// hintsOf says what markName and the scanner have found.
func hintsOf(s *jsonscan.Scanner) Hints {
	return Hints{
		MayCarry: s.Seen()&nameOfMark != 0, MayFile: s.Seen()&nameOfFile != 0,
		MayHalf: s.Halves() || s.Failed(),
	}
}

// holdsContent knows the members below which A2A defines nothing.
func holdsContent(name []byte) bool {
	switch string(name) {
	case "data", "metadata":
		return true
	}
	return false
}

// identifies knows the members whose strings are ids, in every version.
//
// The scanner tells ids from other strings for Series: an event that names another task is no repetition
// of the one before.
func identifies(name []byte) bool {
	switch string(name) {
	case "id", "taskId", "task_id", "contextId", "context_id", "sessionId", "messageId", "message_id", "artifactId", "artifact_id",
		"configId", "config_id", "pushNotificationConfigId", "referenceTaskIds", "reference_task_ids":
		return true
	}
	return false
}

// Finish ends the reading of a document, and gives what is wrong with it in A2A's words: the
// caller's own refusal as it is, what is no JSON as parseError (JSON-RPC 2.0 §5.1), two members of
// one name as InvalidRequest.
func Finish(s *jsonscan.Scanner) *Error {
	err := s.Finish()
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var broken *jsonscan.Error
	if !errors.As(err, &broken) {
		return Errorf(Internal, "").Because(err) // cannot be: there are no others
	}
	switch {
	case broken.TooLarge:
		return Errorf(TooLarge, "%s", broken)
	case broken.Duplicate:
		return Errorf(InvalidRequest, "%s", broken)
	}
	return Errorf(parseError, "Invalid JSON payload: %s", broken)
}
