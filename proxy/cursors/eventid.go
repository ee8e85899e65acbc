package cursors

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// eventPurpose is what event ids are sealed for.
const eventPurpose = "event-id"

// ResumeHeader is where a client says which event it had last (WHATWG HTML §9.2.4).
const ResumeHeader = "Last-Event-Id"

// Mark is an event of a task that a client has had. Its id is the sealed task and epoch,
// the same for all of a stream, a dot, and the number in the clear: which of the events
// of a task of theirs callers ask for is theirs to choose.
type Mark struct {
	Task   string // the agent's id
	Epoch  [8]byte
	Number uint64
}

// SealTask makes what the ids of a stream's events have in common: good for this caller
// and agent, and for nobody else.
func (cu *Cursors) SealTask(x *exchange.Exchange, task string, epoch [8]byte) string {
	plain := append(append(make([]byte, 0, len(epoch)+len(task)), epoch[:]...), task...)
	return base64.RawURLEncoding.EncodeToString(cu.Sealer.Seal(eventPurpose, plain, eventBinding(x))) + "."
}

// longestMark bounds what is opened: the id of an event of a task with the longest id.
const longestMark = 4096

// ReadMark opens an event id into m. It reports false where the id was not sealed for the caller and
// the agent of x.
func (cu *Cursors) ReadMark(x *exchange.Exchange, id string, m *Mark) bool {
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
	plain, err := cu.Sealer.Unseal(eventPurpose, sealed, eventBinding(x))
	if err != nil || len(plain) <= len(m.Epoch) {
		return false
	}
	m.Number, m.Task = number, string(plain[copy(m.Epoch[:], plain):])
	return true
}

// eventBinding says whose event ids are: of which caller, and of which agent's tasks.
func eventBinding(x *exchange.Exchange) []byte {
	key := x.Principal.Key()
	aad := binary.AppendUvarint(make([]byte, 0, len(key)+len(x.Agent.ID)+binary.MaxVarintLen64), uint64(len(key)))
	return append(append(aad, key...), x.Agent.ID...)
}
