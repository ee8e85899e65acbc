package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
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
func (ad *admissions) admit(x *exchange.Exchange) error {
	if err := ad.load.Enter(ad.server.Limits.Requests); err != nil {
		return err
	}
	x.Admitted = true
	return nil
}

// fairShare refuses a call of a caller who asks for more than a fair share of the processor while
// calls wait for it, or who has more calls in flight than there are places left (load
// shedding). It comes once the caller is known, and before anything of the body is read.
func (ad *admissions) fairShare(x *exchange.Exchange) error {
	if err := ad.load.Spare(x.Principal.Key()); err != nil {
		return err
	}
	if err := ad.load.EnterAs(x.Holder(), ad.server.Limits.Requests); err != nil {
		return err
	}
	x.Counted = true
	return nil
}

// makeRoom takes a body of n bytes on, or refuses it while memory is short.
func (ad *admissions) makeRoom(x *exchange.Exchange, n int64) error {
	if n <= int64(ad.server.Limits.LargeBody) {
		return nil
	}
	if err := ad.load.Hold(x.Holder(), n); err != nil {
		return err
	}
	x.Bulk = n
	return nil
}

// discharge ends what admit, fairShare and makeRoom have begun. A stream ends it early: it has a
// place of its own among the streams.
func (ad *admissions) discharge(x *exchange.Exchange) {
	if x.Admitted {
		x.Admitted = false
		ad.load.Leave()
	}
	if x.Counted {
		x.Counted = false
		ad.load.LeaveAs(x.Holder())
	}
	if x.Bulk > 0 {
		ad.load.Drop(x.Holder(), x.Bulk)
		x.Bulk = 0
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
