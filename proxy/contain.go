package proxy

import (
	"fmt"
	"runtime/debug"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// contain makes a panic of a goroutine that works for an exchange the exchange's error:
// finish recovers only those of the goroutine that runs it, and any other ends the
// process with everybody's calls.
func (p *Proxy) contain(x *exchange, err *error) {
	if v := recover(); v != nil {
		p.Telemetry.Log.Error("request handler panicked", "request_id", x.rec.RequestID,
			"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		*err = wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v))
	}
}
