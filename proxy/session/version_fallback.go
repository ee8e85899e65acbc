package session

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Cards are wrong about the version that their agents speak: libraries fill it in, and before
// 0.2.5 cards had none. The agent then knows no method that it is called by, although the
// caller, who speaks its version, could call it directly. Where the version that the card names
// is not the caller's, a call whose method the agent does not know is sent once more, in the
// caller's version. Nothing was done the first time: that is what the error says (JSON-RPC 2.0
// §5.1).

// WithVersionFallback sends a call whose method the agent does not know once more, in the
// version that the caller speaks.
//
// It happens once per call. The body is read anew and judged again, as ids and extensions may be
// written differently; the record says that it fell back, and View.Correct keeps the next calls
// from trying in vain.
func (se *Sessions) WithVersionFallback(call record.Stage) record.Stage {
	return func(x *exchange.Exchange) error {
		err := call(x)
		if !errors.Is(err, forward.ErrMethodUnknown) {
			return err
		}
		again := *x.Endpoint
		again.Version, again.Says = x.Side().Version, []string{string(x.Side().Version)}
		x.Endpoint, x.FellBack, x.Webhook = &again, true, nil // what had come was forgotten
		for _, s := range []record.Stage{se.Rejudge, se.Adopt} {
			if err := s(x); err != nil {
				return err
			}
		}
		if x.Rec.TranslatedTo = ""; !x.Alike(x.Endpoint.Side) {
			x.Rec.TranslatedTo = x.Endpoint.String()
		}
		return call(x)
	}
}
