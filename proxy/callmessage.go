package proxy

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// callMessage is the message of a call, read when the first rule, authorizer or limit asks for
// it. Calls of which nobody asks cost nothing; err is what was wrong with it for all who ask.
type callMessage struct {
	read    bool
	message *wire.Message
	err     error
}

// message reads what the call brings, at most once; nil for calls without a message.
// Those who judge contents ask for it, so that calls which nobody judges cost nothing.
// It is the caller's: extensions' defaults and hooks come later.
func (p *Proxy) message(x *exchange) (*wire.Message, error) {
	if b := &x.callMessage; !b.read {
		b.read = true
		x.mend()
		m, e := x.call.ReadMessage()
		if b.message = m; e != nil {
			b.err = e
		}
	}
	return x.callMessage.message, x.callMessage.err
}

// mend is for whoever judges what the call carries: where that has half of a surrogate
// pair, which every parser reads as it likes, U+FFFD is what is judged, and then it is
// what the agent gets. It is done where the body lies, so that all that was found in it
// stays where it was.
func (x *parsedCall) mend() {
	wire.MendHere(x.call.Body)
	wire.MendHere(x.call.Params) // of which a webhook may have been replaced
}
