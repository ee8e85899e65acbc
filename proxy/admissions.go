package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// overloaded is what an error says of something that all calls share and that has run
// out, "" for any other error. Descriptors that end when an agent is connected to are not
// the agent's fault.
func overloaded(err error) overload.Rung {
	var over overload.Rung
	switch {
	case errors.As(err, &over):
		return over
	case errors.Is(err, openstreams.ErrStreams):
		return overload.Streams
	case server.NoDescriptors(err):
		return overload.Descriptors
	}
	return ""
}
