// Package admit decides whether a call is taken in at all: by the load of the process, by the
// caller's fair share, by who the caller is, and by what anomalies throttle. [Admissions],
// [Authenticator] and [Throttling] are stages of the request path (see package proxy); what they
// find out stands in the exchange.
//
//   - Admit leaves Admitted: the call counts as in flight. It refuses with 503 and Retry-After.
//   - Authenticate leaves Principal. It refuses with 401 and WWW-Authenticate (RFC 9110 §11.6.1), and
//     after many bad credentials with 429.
//   - FairShare leaves Counted: the call counts for its caller. It refuses with 503.
//   - Throttle refuses with 429.
//
// Recorder.finish gives back what they have taken, by Discharge, whatever became of the call.
package admit

import (
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Admissions is overload control at the entrance: it counts the calls in flight and the memory
// of large bodies, and refuses calls there is no room for (internal/overload).
type Admissions struct {
	Load   *overload.Ladder
	Server *server.Config
}

// Admit counts a call as one in flight, or refuses it with 503. It comes before everything that
// takes time: an overloaded gateway that looked at every call first would do nothing else.
func (ad *Admissions) Admit(x *exchange.Exchange) error {
	if err := ad.Load.Enter(ad.Server.Limits.Requests); err != nil {
		return err
	}
	x.Admitted = true
	return nil
}

// FairShare refuses a call of a caller who asks for more than a fair share of the processor while
// calls wait for it, or who has more calls in flight than there are places left (load
// shedding). It comes once the caller is known, and before anything of the body is read.
func (ad *Admissions) FairShare(x *exchange.Exchange) error {
	if err := ad.Load.Spare(x.Principal.Key()); err != nil {
		return err
	}
	if err := ad.Load.EnterAs(x.Holder(), ad.Server.Limits.Requests); err != nil {
		return err
	}
	x.Counted = true
	return nil
}

// MakeRoom takes a body of n bytes on, or refuses it while memory is short.
// Small bodies are not counted: the pools that they are read into are bounded by the calls in
// flight.
func (ad *Admissions) MakeRoom(x *exchange.Exchange, n int64) error {
	if n <= int64(ad.Server.Limits.LargeBody) {
		return nil
	}
	if err := ad.Load.Hold(x.Holder(), n); err != nil {
		return err
	}
	x.Bulk = n
	return nil
}

// Discharge ends what Admit, FairShare and MakeRoom have begun. A stream ends it early: it has a
// place of its own among the streams.
func (ad *Admissions) Discharge(x *exchange.Exchange) {
	if x.Admitted {
		x.Admitted = false
		ad.Load.Leave()
	}
	if x.Counted {
		x.Counted = false
		ad.Load.LeaveAs(x.Holder())
	}
	if x.Bulk > 0 {
		ad.Load.Drop(x.Holder(), x.Bulk)
		x.Bulk = 0
	}
}
