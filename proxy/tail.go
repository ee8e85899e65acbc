package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// tail gives the client what was held back of the agent's events until its stream had
// ended: the state of a task that was said to have ended before it had.
func (a *subscriber) tail(emit stream.Emit) error {
	if a.resp != nil && !a.mended() && a.x.upstream.Binding == wire.GRPC && wire.ReadStatus(a.resp.Header, a.resp.Trailer) != nil {
		return nil // the stream has failed, and may have had more to say
	}
	return a.emit(stream.Entry{}, emit, func(emit telling) error {
		err := a.x.upstream.retell.End(func(event []byte) error { return emit("", event) })
		if err != nil {
			return retelling(err)
		}
		return nil
	})
}

// recall has an upstream call know what the client was not told before it had the event of a number.
func (a *subscriber) recall(l *upstreamCall, number uint64) {
	if l.retell == nil {
		return
	}
	l.retell.GoOn()
	if found, data := a.newest(l.Side, number); found != nil {
		l.retell.Recall(found.docOf(data))
	}
}

// ended reports whether the agent has said that the task has ended, if not that its stream
// has.
func (a *subscriber) ended() bool {
	found, _ := a.newest(a.x.upstream.Side, a.feed.Newest())
	return found != nil && terminal(found.seen.State)
}

// newest is the newest event that is kept and names a state, of those up to a number; nil
// for none.
func (a *subscriber) newest(side wire.Side, number uint64) (*judged, []byte) {
	from, entries := a.feed.Entries()
	for i := len(entries) - 1; i >= 0; i-- {
		if from+uint64(i) > number {
			continue
		}
		found, err := a.sessions.judgedOf(side, entries[i])
		if err == nil && found.seen.State != "" {
			return found, entries[i].Data
		}
	}
	return nil, nil
}
