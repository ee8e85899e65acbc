package proxy

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// brought is what a call brings, once somebody has asked for it.
type brought struct {
	read    bool
	message *wire.Message
	err     error
}

// message reads what the call brings, at most once; nil for calls without a message.
// Those who judge contents ask for it, so that calls which nobody judges cost nothing.
// It is the caller's: extensions' defaults and hooks come later.
func (p *Proxy) message(x *exchange) (*wire.Message, error) {
	if b := &x.brought; !b.read {
		b.read = true
		x.mend()
		m, e := x.call.ReadMessage()
		if b.message = m; e != nil {
			b.err = e
		}
	}
	return x.brought.message, x.brought.err
}

// mend is for whoever judges what the call carries: where that has half of a surrogate
// pair, which every parser reads as it likes, U+FFFD is what is judged, and then it is
// what the agent gets. It is done where the body lies, so that all that was found in it
// stays where it was.
func (x *exchange) mend() {
	wire.MendHere(x.call.Body)
	wire.MendHere(x.call.Params) // of which a webhook may have been replaced
}
