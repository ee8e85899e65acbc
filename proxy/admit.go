package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// takeOn counts a call in, or refuses it before anything is asked that takes time: a
// gateway with too much to do that looks at everything first does nothing else.
func (p *Proxy) takeOn(x *exchange) error {
	if err := p.Load.Enter(p.Server.Limits.Requests); err != nil {
		return err
	}
	x.admitted = true
	return nil
}

// discharge ends what takeOn has begun. Streams end it early, which have places of their own.
func (p *Proxy) discharge(x *exchange) {
	if x.admitted {
		x.admitted = false
		p.Load.Leave()
	}
}

// overloaded is what an error says of something that all calls share and that has run
// out, "" for any other error. Descriptors that end when an agent is connected to are not
// the agent's fault.
func overloaded(err error) server.Overload {
	var over server.Overload
	switch {
	case errors.As(err, &over):
		return over
	case errors.Is(err, errStreams):
		return "streams"
	case server.NoDescriptors(err):
		return "descriptors"
	}
	return ""
}
