package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
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

// spare refuses a call of who asks for more than a fair share, while there is not time for
// all, and of who has more calls in flight than there are places left. It comes once the caller
// is known, and before anything of the body is read.
func (p *Proxy) spare(x *exchange) error {
	if err := p.Load.Spare(x.principal.Key()); err != nil {
		return err
	}
	if err := p.Load.EnterAs(x.holder(), p.Server.Limits.Requests); err != nil {
		return err
	}
	x.counted = true
	return nil
}

// holder is who has what the exchange takes of what all share: the caller. Those who do not say
// who they are differ by their addresses, as far as one client has more than one for itself.
func (x *exchange) holder() string {
	if !x.principal.Anonymous() {
		return x.principal.Key()
	}
	if x.network == "" { // spare asks first, before others could at the same time
		x.network = x.clientNetwork()
	}
	return x.network
}

// clientNetwork is the client's address, or its /64 network of IPv6.
func (x *exchange) clientNetwork() string {
	from := x.client.Unmap().WithZone("")
	if from.Is6() {
		network, _ := from.Prefix(64) // never fails
		from = network.Addr()
	}
	return from.String()
}

// makeRoom takes a body of n bytes on, or refuses it while memory is short.
func (p *Proxy) makeRoom(x *exchange, n int64) error {
	if n <= int64(p.Server.Limits.LargeBody) {
		return nil
	}
	if err := p.Load.Hold(x.holder(), n); err != nil {
		return err
	}
	x.bulk = n
	return nil
}

// discharge ends what takeOn, spare and makeRoom have begun. Streams end it early, which have places of
// their own.
func (p *Proxy) discharge(x *exchange) {
	if x.admitted {
		x.admitted = false
		p.Load.Leave()
	}
	if x.counted {
		x.counted = false
		p.Load.LeaveAs(x.holder())
	}
	if x.bulk > 0 {
		p.Load.Drop(x.holder(), x.bulk)
		x.bulk = 0
	}
}

// overloaded is what an error says of something that all calls share and that has run
// out, "" for any other error. Descriptors that end when an agent is connected to are not
// the agent's fault.
func overloaded(err error) overload.Rung {
	var over overload.Rung
	switch {
	case errors.As(err, &over):
		return over
	case errors.Is(err, errStreams):
		return overload.Streams
	case server.NoDescriptors(err):
		return overload.Descriptors
	}
	return ""
}
