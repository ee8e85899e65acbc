package proxy

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// relay passes an event stream on, each event looked at before the caller sees
// it: its ids recorded, its JSON-RPC id checked.
func (p *Proxy) relay(x *exchange, resp *http.Response) error {
	x.incoming(resp.Header)
	header := x.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx in front would hold events back
	x.w.streaming, x.rec.Streamed = true, true
	x.w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(x.w).Flush(); err != nil {
		return stream.ErrGone
	}
	open := p.Telemetry.Metrics.OpenStream(x.agent.ID)
	defer open.Close()

	l, t := p.Server.Limits, p.Server.Timeouts
	stats, err := stream.Relay{
		Limits: stream.Limits{
			Event: int(l.Event), Idle: t.Stream.Std(), Heartbeat: t.Heartbeat.Std(), Write: t.Write.Std(),
		},
		See: func(event stream.Event, emit stream.Emit) error {
			out, err := p.see(x, event.Data)
			open.Event()
			if err != nil {
				return err
			}
			return emit(event.Name, out)
		},
		Drain: p.Drain,
	}.Run(x.r.Context(), x.w, resp.Body)
	x.rec.Events = stats.Events
	x.rec.FirstEvent = stats.First
	x.rec.End = "agent finished"
	if err != nil {
		x.rec.End = end(err)
	}
	return err
}

// see judges one event.
func (p *Proxy) see(x *exchange, data []byte) ([]byte, error) {
	seen, err := wire.ReadAnswer(x.call.Binding, x.call.Version, x.call.Method, data, p.answerLimits())
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed event").Because(err)
	}
	out, err := p.observe(x, seen, data)
	x.rec.Events++
	return out, err
}

// end names why a stream ended, from a closed set.
func end(err error) string {
	for _, known := range []error{
		stream.ErrIdle, stream.ErrTooLarge, stream.ErrBroken, stream.ErrSlow, stream.ErrGone, stream.ErrDraining,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "event refused"
}
