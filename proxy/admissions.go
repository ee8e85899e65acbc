package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// admissions is overload control at the entrance: it counts the calls in flight and the memory
// of large bodies, and refuses calls there is no room for (internal/overload).
type admissions struct {
	load   *overload.Ladder
	server *server.Config
}

// admit counts a call as one in flight, or refuses it with 503. It comes before everything that
// takes time: an overloaded gateway that looked at every call first would do nothing else.
func (ad *admissions) admit(x *exchange) error {
	if err := ad.load.Enter(ad.server.Limits.Requests); err != nil {
		return err
	}
	x.admitted = true
	return nil
}

// fairShare refuses a call of a caller who asks for more than a fair share of the processor while
// calls wait for it, or who has more calls in flight than there are places left (load
// shedding). It comes once the caller is known, and before anything of the body is read.
func (ad *admissions) fairShare(x *exchange) error {
	if err := ad.load.Spare(x.principal.Key()); err != nil {
		return err
	}
	if err := ad.load.EnterAs(x.holder(), ad.server.Limits.Requests); err != nil {
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
	if x.network == "" { // fairShare asks first, before others could at the same time
		x.network = x.clientNetwork()
	}
	return x.network
}

// clientNetwork is the client's address, or its /64 network of IPv6.
func (x *fromClient) clientNetwork() string {
	from := x.client.Unmap().WithZone("")
	if from.Is6() {
		network, _ := from.Prefix(64) // never fails
		from = network.Addr()
	}
	return from.String()
}

// makeRoom takes a body of n bytes on, or refuses it while memory is short.
func (ad *admissions) makeRoom(x *exchange, n int64) error {
	if n <= int64(ad.server.Limits.LargeBody) {
		return nil
	}
	if err := ad.load.Hold(x.holder(), n); err != nil {
		return err
	}
	x.bulk = n
	return nil
}

// discharge ends what admit, fairShare and makeRoom have begun. A stream ends it early: it has a
// place of its own among the streams.
func (ad *admissions) discharge(x *exchange) {
	if x.admitted {
		x.admitted = false
		ad.load.Leave()
	}
	if x.counted {
		x.counted = false
		ad.load.LeaveAs(x.holder())
	}
	if x.bulk > 0 {
		ad.load.Drop(x.holder(), x.bulk)
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
	case errors.Is(err, openstreams.ErrStreams):
		return overload.Streams
	case server.NoDescriptors(err):
		return overload.Descriptors
	}
	return ""
}
