package proxy

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// unloadRequest lets go of a request once its answer streams: what came with it would stay in
// memory for as long as the stream is open. The buffer goes to the collector and not
// to the next call, so that nobody who still holds a part of it sees another's.
func unloadRequest(x *exchange.Exchange) {
	if x.Body == nil && x.Told == nil {
		return
	}
	x.Body, x.Told = nil, nil
	calls := []*wire.Call{&x.Call}
	if l := x.Upstream; l != nil {
		l.Body, l.Holder, l.Other = nil, nil, nil
		calls = append(calls, l.Call)
	}
	for _, c := range calls {
		c.ID = bytes.Clone(c.ID)
		c.Body, c.Params, c.Message = nil, nil, nil
	}
}
