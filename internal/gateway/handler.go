package gateway

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// handler answers the requests of the public listener. It is installed before there is a
// configuration to serve, and stays the same over reloads: what changes is the snapshot
// that current holds.
type handler struct {
	life    *lifetime
	current *snapshot.Current
}

// ServeHTTP serves one request from the snapshot it begins with. Connections are accepted
// before Start, since the socket is opened early; their requests wait here. The answer to a
// request that comes too late is an A2A error (UNAVAILABLE, 503), and the connection is
// closed so that the client tries another gateway.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.life.serves(r.Context()) {
		return
	}
	s := h.current.Acquire()
	if s == nil { // a request that was on its way when Shutdown gave up waiting
		w.Header().Set("Connection", "close")
		failure.Write(w, nil, wire.Errorf(wire.Unavailable, "the gateway is shutting down"))
		return
	}
	defer s.Release()
	s.Proxy.ServeHTTP(w, r)
}
