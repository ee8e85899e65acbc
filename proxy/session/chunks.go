package session

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// chunks hold the artifacts of a stream of an agent's to what it has said of them.
//
// It belongs to the judge, which is used by the source's goroutine alone.
type chunks struct {
	whole  bool                           // all that there are, or were before the stream, are known
	task   []byte                         // an event with some of them, which has not been looked at; nil for none
	closed map[ownership.ArtifactKey]bool // those that have begun, and whether nothing more comes
	looks  int                            // how often contents have been compared
	again  bool                           // the event at hand has been seen, and what was before it is in the feed now
}

// mostLooks is how often contents are compared in one stream: it takes as long as they are.
const mostLooks = 16

// artifact says which rule an update of an artifact breaks; nil for none. ErrAgain has it
// come again.
//
// An update that replaces an artifact which had ended is compared with what the feed has shown,
// since agents repeat artifacts at the end: the same content is no breach. For that the events
// before it have to be in the feed, so that the judge asks to see this one again.
func (j *judge) artifact(found *intake.Judged, data []byte) error {
	c, doc := found.Seen.Chunk, found.DocOf(data)
	said := doc[c.ID[0]:c.ID[1]]
	if j.side.Version == wire.V01 && len(said) == 0 {
		said = []byte("0") // which it is unless it is said
	}
	id := ownership.KeyOf(said)
	h := &j.chunks
	if h.closed == nil {
		h.closed = map[ownership.ArtifactKey]bool{}
	}
	if _, known := h.closed[id]; !known && h.task != nil {
		h.learn()
	}
	if over := h.closed[id]; over && !c.Append {
		if !h.again {
			h.again = true
			return stream.ErrAgain
		}
		h.again = false
		if j.alters(doc) {
			return grammar.ErrAltered
		}
		return nil
	}
	err := ownership.Chunked(h.closed, id, c.Append, c.Last)
	if err == grammar.ErrChunkFirst && !h.whole { //nolint:errorlint // it is the one that chunked makes
		return nil
	}
	return err
}

// learn takes in the artifacts of a task that the stream has shown.
func (h *chunks) learn() {
	ids, ok := ownership.ArtifactIDs(h.task)
	if h.closed == nil {
		h.closed = make(map[ownership.ArtifactKey]bool, min(len(ids), ownership.MostChunked))
	}
	h.task, h.whole = nil, h.whole && ok
	for _, id := range ids {
		if _, known := h.closed[id]; !known && len(h.closed) < ownership.MostChunked {
			h.closed[id] = false
		}
	}
}

// alters reports whether an update has other content than the feed has shown. Nobody knows
// where the feed is not kept whole.
func (j *judge) alters(doc []byte) bool {
	if j.chunks.looks++; j.chunks.looks > mostLooks {
		return false
	}
	m := ownership.Dialect{Side: j.side, Bytes: j.bytes}
	t := j.sessions.TrackerOf(j.feed, m)
	return t != nil && t.Differs(m, doc, (*fold.Task).AlteredBy)
}
