package gateway

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// handler answers the requests of the public listener.
type handler struct {
	life    *lifetime
	current *snapshot.Current
}

// ServeHTTP serves one request from the snapshot it begins with.
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
