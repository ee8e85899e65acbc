package proxy

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// eventPurpose is what event ids are sealed for.
const eventPurpose = "event-id"

// resumeHeader is where a client says which event it had last (WHATWG HTML §9.2.4).
const resumeHeader = "Last-Event-Id"

// mark is an event of a task that a client has had. Its id is the sealed task and epoch,
// the same for all of a stream, a dot, and the number in the clear: which of the events
// of a task of theirs callers ask for is theirs to choose.
type mark struct {
	task   string // the agent's id
	epoch  [8]byte
	number uint64
}

// sealTask makes what the ids of a stream's events have in common: good for this caller
// and agent, and for nobody else.
func (cu *cursors) sealTask(x *exchange.Exchange, task string, epoch [8]byte) string {
	plain := append(append(make([]byte, 0, len(epoch)+len(task)), epoch[:]...), task...)
	return base64.RawURLEncoding.EncodeToString(cu.sealer.Seal(eventPurpose, plain, eventBinding(x))) + "."
}

// longestMark bounds what is opened: the id of an event of a task with the longest id.
const longestMark = 4096

// openMark reads the event id that the caller comes back with; nil without one. What is
// wrong with an id that is not good here nobody is told: it may be somebody else's.
func (se *sessions) openMark(x *exchange.Exchange) (*mark, *wire.Error) {
	lines := x.Request.Header[resumeHeader]
	if !x.Call.Streaming || len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return nil, nil
	}
	var m mark
	if len(lines) == 1 && se.readMark(x, lines[0], &m) && (x.Call.TaskID == "" || x.Call.TaskID == m.task) {
		return &m, nil
	}
	se.Telemetry.Metrics.StreamRefused(x.Agent.ID)
	return nil, wire.Errorf(wire.InvalidParams, "Last-Event-ID is not one that this gateway has given you for this task")
}

func (cu *cursors) readMark(x *exchange.Exchange, id string, m *mark) bool {
	head, tail, ok := strings.Cut(id, ".")
	if !ok || len(id) > longestMark {
		return false
	}
	number, err := strconv.ParseUint(tail, 10, 64)
	if err != nil || number == 0 || strconv.FormatUint(number, 10) != tail {
		return false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(head)
	if err != nil {
		return false
	}
	plain, err := cu.sealer.Unseal(eventPurpose, sealed, eventBinding(x))
	if err != nil || len(plain) <= len(m.epoch) {
		return false
	}
	m.number, m.task = number, string(plain[copy(m.epoch[:], plain):])
	return true
}

// eventBinding says whose event ids are: of which caller, and of which agent's tasks.
func eventBinding(x *exchange.Exchange) []byte {
	key := x.Principal.Key()
	aad := binary.AppendUvarint(make([]byte, 0, len(key)+len(x.Agent.ID)+binary.MaxVarintLen64), uint64(len(key)))
	return append(append(aad, key...), x.Agent.ID...)
}
