package proxy

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
)

// giveBack releases a buffer whose bytes were written to the client. Where a write failed it
// is left to the collector: a stream of HTTP/2 that is reset ends its writer at once, while a
// frame of the bytes may be on its way, and would have those of the next call in it.
func (x *fromClient) giveBack(b *buffers.Buffer) {
	if !x.w.failed {
		b.Release()
	}
}

// unloadRequest lets go of a request once its answer streams: what came with it would stay in
// memory for as long as the stream is open. The buffer goes to the collector and not
// to the next call, so that nobody who still holds a part of it sees another's.
func unloadRequest(x *exchange) {
	if x.body == nil && x.told == nil {
		return
	}
	x.body, x.told = nil, nil
	calls := []*wire.Call{&x.call}
	if l := x.upstream; l != nil {
		l.body, l.holder, l.other = nil, nil, nil
		calls = append(calls, l.call)
	}
	for _, c := range calls {
		c.ID = bytes.Clone(c.ID)
		c.Body, c.Params, c.Message = nil, nil, nil
	}
}

// lend is room for the caller's call as it is retold, until the exchange ends.
func (x *parsedCall) lend(n int) []byte {
	x.told.Release() // an agent is asked for one thing after the other
	x.told = buffers.NewFor(int64(n))
	return x.told.Room(n)
}
