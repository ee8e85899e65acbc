package failure

import (
	"fmt"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

// Plain is an HTTP answer by which an agent, or something in front of it, refuses a
// call without an A2A error: a status, and a body that says what it says to people.
type Plain struct {
	Status int
	Type   string // Content-Type, as it came

	// Object is for a JSON object that an agent of HTTP+JSON answered. There the status
	// is the binding's own way to say what kind of error it is (A2A 1.0 §11.6), however the
	// object is made up.
	Object bool
	Task   bool // the call names a task
}

// Error is what the answer means to the caller. Nothing of its body is in it: that may
// be a page of something in between, or a stack trace.
//
// What is asked to pay, to come back later, or to be shorter is so whoever said it in
// whatever words. Every other status is about the agent and how it is reached, and
// is BadAgentResponse that names it.
func (p Plain) Error() *wire.Error {
	if k := kindOfPlain(p.Status); k != nil {
		return &wire.Error{Kind: k, Message: plainTexts[k]}
	}
	text := fmt.Sprintf("the agent answered %d (%s)", p.Status, mediatype.Quoted(p.Type))
	kind := wire.BadAgentResponse
	switch {
	case p.redirects():
		text = fmt.Sprintf("the agent answered %d, a redirect, and redirects are not followed", p.Status)
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden:
		text += ": it does not accept what the gateway shows it"
	case p.Object && (p.Status != http.StatusNotFound || p.Task):
		kind = kindOfStatus(p.Status)
	}
	if kind == wire.Internal {
		kind = wire.BadAgentResponse // the gateway's own, and there is nothing wrong with it
	}
	return &wire.Error{Kind: kind, Message: text}
}

// redirects reports whether the status asks to call another address. Nobody has checked that one.
func (p Plain) redirects() bool {
	switch p.Status {
	case http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// plainTexts are the messages of kinds that a status alone may mean.
var plainTexts = map[*wire.Kind]string{
	wire.PaymentRequired: "the agent asks for payment",
	wire.TooLarge:        "the agent takes no request of this size",
	wire.RateLimited:     "the agent is receiving too many requests",
	wire.Unavailable:     "the agent is not available at the moment",
}

// kindOfPlain is the kind of a status that means the same whoever says it and whatever
// stands in the body; nil for every other. Those above 520 are not registered: CDNs say
// that they cannot reach, or wait for, what is behind them, and hosts of models that
// they are overloaded (529).
func kindOfPlain(status int) *wire.Kind {
	switch status {
	case http.StatusPaymentRequired:
		return wire.PaymentRequired
	case http.StatusRequestEntityTooLarge:
		return wire.TooLarge
	case http.StatusTooManyRequests:
		return wire.RateLimited
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusServiceUnavailable, 521, 523, 529:
		return wire.Unavailable
	case http.StatusGatewayTimeout, 522, 524:
		return wire.AgentTimeout
	}
	return nil
}
