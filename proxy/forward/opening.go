package forward

import (
	"context"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Opening is what an agent has answered to a subscription, or why it has not.
type Opening struct {
	Resp *http.Response
	Err  error
}

// silence is how long an agent may leave unanswered a subscription to a task that waits for
// its user, once it has shown the task. Some answer with the first event alone, which comes
// with the user's next message: the client would not even see the task until then.
const silence = time.Second

// AwaitOpening waits for what has been opened, if the task waits for its user not long: then it is an
// empty stream, and the task is looked at.
//
// Where the agent stays silent its request is cancelled, and the empty stream that takes its
// place has the task polled.
func (fw *Forwarder) AwaitOpening(ctx context.Context, x *exchange.Exchange, out <-chan Opening, stop context.CancelFunc, state string) Opening {
	if !taskstate.Settled(state) || taskstate.Terminal(state) {
		return <-out
	}
	select {
	case o := <-out:
		return o
	case <-time.After(silence):
	}
	stop()
	o := <-out
	if o.Err != nil && ctx.Err() == nil {
		x.Up = Detach(ctx, x.Ctx)
		label := mediatype.Events
		if x.Upstream.Binding == wire.GRPC {
			label = mediatype.GRPC
		}
		return Opening{Resp: exchange.EmptyStream(http.Header{"Content-Type": {label}})}
	}
	return o
}
