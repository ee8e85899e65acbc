package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// holdPlace has the places of the call taken until the agent's stream is done with.
func (se *sessions) holdPlace(x *exchange.Exchange, stop func()) func() {
	if !x.Outlives {
		return stop
	}
	limitPass, free := x.LimitPass, x.LimitPass.Hold()
	return func() {
		stop()
		free()
		se.Streams.Forget(limitPass)
	}
}
