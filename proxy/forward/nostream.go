package forward

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ErrNoStream says that an agent has no further stream of a task.
var ErrNoStream = errors.New("the agent cannot be subscribed to")

// MayComeBack reports whether an agent may yet come back: it could not be reached, or has said
// so.
func MayComeBack(err error) bool {
	var e *wire.Error
	if errors.As(err, &e) {
		switch e.Reason {
		case wire.Unavailable.Reason, wire.AgentTimeout.Reason, wire.BadAgentResponse.Reason, wire.RateLimited.Reason:
			return true
		}
		return false
	}
	return true
}

// WhyNoStream is why an agent answered a subscription with something else than a stream.
//
// It wraps ErrNoStream where the agent has said that there is none, so that the task is polled;
// other errors have the caller try again later.
func (fw *Forwarder) WhyNoStream(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response) error {
	body := buffers.New()
	defer body.Release()
	got, err := fw.Receive(x, l, resp, body)
	if err != nil {
		if MayComeBack(err) && resp.StatusCode >= http.StatusInternalServerError {
			return err // it may be starting
		}
		return fmt.Errorf("%w: %w", ErrNoStream, err)
	}
	if got.Failed != nil {
		if got.Failed.Kind == wire.Unavailable {
			return got.Failed
		}
		return fmt.Errorf("%w: %w", ErrNoStream, AgentError(got.Failed))
	}
	return ErrNoStream
}
