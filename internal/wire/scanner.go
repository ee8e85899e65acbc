package wire

import (
	"errors"
	"math"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// newScanner reads a document of A2A's from its first byte. The caller must call release, and
// must not use slices obtained from name and text after it.
func newScanner(doc []byte, lim Limits) *jsonscan.Scanner {
	lim = lim.withDefaults()
	return jsonscan.New(doc, lim.Depth, lim.Members, &rules)
}

// again reads a document that has been held to the limits before.
func again(doc []byte) *jsonscan.Scanner {
	return jsonscan.New(doc, math.MaxInt32, math.MaxInt32, &rules)
}

// memberOf finds a member of an object that has been read before, and how many
// members there are.
func memberOf(doc []byte, object [2]int, name string) (value [2]int, n int) {
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

// mayHold says what markName has found.
func mayHold(s *jsonscan.Scanner) (marks, files bool) {
	return s.Seen()&nameOfMark != 0, s.Seen()&nameOfFile != 0
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
func identifies(name []byte) bool {
	switch string(name) {
	case "id", "taskId", "task_id", "contextId", "context_id", "sessionId", "messageId", "message_id", "artifactId", "artifact_id",
		"configId", "config_id", "pushNotificationConfigId", "referenceTaskIds", "reference_task_ids":
		return true
	}
	return false
}

// finished ends the reading of a document, and gives what is wrong with it in A2A's words.
func finished(s *jsonscan.Scanner) *Error {
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
	switch broken.Kind {
	case jsonscan.TooLarge:
		return Errorf(TooLarge, "%s", broken)
	case jsonscan.Duplicate:
		return Errorf(InvalidRequest, "%s", broken)
	}
	return Errorf(ParseError, "Invalid JSON payload: %s", broken)
}
