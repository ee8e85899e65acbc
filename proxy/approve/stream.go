package approve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// stream gives the caller of a streaming call the task that waits, and, once the call was sent, the
// agent's stream. It has a place among the streams while it waits, and another one then.
func (h *Holder) stream(x *exchange.Exchange, st *approvals.Status) error {
	slot, err := h.Streams.Take(x.Holder(), int64(h.Server.Limits.Streams), *h.StreamConfig.PerPrincipal)
	if err != nil {
		return err
	}
	h.Discharge(x)
	st, err = h.streamWaiting(x, st)
	slot.Leave()
	switch {
	case err != nil:
		x.Rec.End = endText(err)
		return err
	case st.Outcome.Task != "":
		x.Task.Agent = st.Outcome.Task
		if x.Task.Caller == "" {
			x.Task.Caller = st.ID
		}
		return h.Follow(x, st.Outcome.Task)
	}
	x.Rec.End = "agent finished"
	x.Finish()
	return nil
}

// endText names why a stream ended that has waited.
func endText(err error) string {
	for _, known := range []error{ending.ErrGone, ending.ErrDraining, openstreams.ErrRevoked, openstreams.ErrLifetime, openstreams.ErrEnded} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "client disconnected"
}

// streamWaiting writes the task as it is, and waits until the agent has shown one for it, or nothing more
// becomes of it: that is the last event.
func (h *Holder) streamWaiting(x *exchange.Exchange, st *approvals.Status) (*approvals.Status, error) {
	if err := h.tell(x, st); err != nil {
		return st, err
	}
	told := st.Outcome.State
	open := openstreams.NewStream(x.Rec.RequestID, x.PolicyRequest(), x.Rec.Sharing != "", x.InUse(), st.ID, x.Rec.Events)
	ctx, stop, done := h.Streams.Watch(x.ClientContext(), open, h.StreamConfig.Lifetime.Std())
	defer done()
	if h.Drain != nil {
		defer h.Drain(func() { stop(ending.ErrDraining) })()
	}
	for {
		now, err := h.beating(ctx, x, func(ctx context.Context) (*approvals.Status, error) {
			return h.follow(ctx, st, func(st *approvals.Status) bool {
				return st.Outcome.Task != "" || st.Outcome.State != told
			})
		})
		if err != nil {
			open.Over(endText(err))
			return st, err
		}
		if st = now; st.Outcome.Task != "" {
			return st, nil
		}
		if err := h.tell(x, st); err != nil {
			return st, err
		}
		open.Told(&x.Rec)
		if told = st.Outcome.State; told.Ended() {
			open.Over("agent finished")
			return st, nil
		}
	}
}

// beating waits, and writes heartbeats meanwhile: proxies and clients take silence for a dead connection.
func (h *Holder) beating(ctx context.Context, x *exchange.Exchange, wait func(context.Context) (*approvals.Status, error)) (*approvals.Status, error) {
	type came struct {
		st  *approvals.Status
		err error
	}
	ctx, stop := context.WithCancel(ctx)
	out := make(chan came, 1)
	go func() {
		st, err := wait(ctx)
		out <- came{st, err}
	}()
	every := h.Server.Timeouts.Heartbeat.Std()
	if every <= 0 || x.Call.Binding == wire.GRPC {
		every = time.Hour
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case c := <-out:
			stop()
			return c.st, c.err
		case <-tick.C:
			if x.Call.Binding == wire.GRPC {
				continue
			}
			if err := flush(x, relay.EventFrames{}.Beat(nil)); err != nil {
				stop()
				<-out
				return nil, err
			}
		}
	}
}

// tell writes the task as an event; what becomes of it later, as updates.
func (h *Holder) tell(x *exchange.Exchange, st *approvals.Status) error {
	x.Rec.TaskState, x.Rec.ApprovalState = StateOf(st), string(st.Outcome.State)
	doc, err := TaskOf(x, st)
	if err != nil {
		return err
	}
	var frames relay.Framing = relay.EventFrames{}
	if x.Call.Binding == wire.GRPC {
		frames = relay.MessageFrames{}
	}
	var out []byte
	err = retelling(x).Event(event(doc), func(data []byte) error {
		out = frames.Append(out, "", "", data)
		return nil
	})
	if err != nil {
		return exchange.Retelling(err)
	}
	x.TaskTold = true // what comes next is about the same task
	if !x.Writer.Wrote {
		x.Stamp()
	}
	if err := x.Open(); err != nil {
		return err
	}
	x.Rec.Events++
	return flush(x, out)
}

// flush writes bytes of a stream that the client is to have at once.
func flush(x *exchange.Exchange, out []byte) error {
	if !x.Writer.Wrote {
		x.Writer.WriteHeader(http.StatusOK)
	}
	x.Writer.ArmDeadline()
	defer x.Writer.Settle()
	if _, err := x.Writer.Write(out); err != nil {
		return ending.ErrGone
	}
	if err := http.NewResponseController(x.Writer).Flush(); err != nil {
		return ending.ErrGone
	}
	return nil
}
