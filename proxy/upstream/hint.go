package upstream

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/http1"
)

// Hint is what the choice of an instance depends on, and whether a call may be sent
// again. The zero value is a call about nothing in particular that may have effects.
type Hint struct {
	// Caller is whose call it is: places are shared among callers, and what fails for one
	// alone is not taken for a fault of the instance's where others call as well. "" for the
	// gateway's own.
	Caller string
	// Safe says that the call changes nothing: it may be sent twice.
	Safe bool
	// Instance answered earlier calls on the task or in the context; see Served. One
	// that is not there any more, or never was, is as good as none.
	Instance string
	// Task says that Instance has the task that the call is about: others may not know
	// it.
	Task bool
	// Context holds what calls have in common that should go to one instance: an
	// A2A context id, as a rule.
	Context string
	// Body is asked for the request's body where it is sent again; nil for none.
	Body Body
	// Trail hears of the requests that are sent; nil for nobody.
	Trail Trail
}

// Trail is told of every request before it is sent, and of the end of those that another
// follows. The end of the last one is its caller's to tell.
type Trail interface {
	// Begin may replace the request's header, and must not change it. instance is "" where
	// the agent has none.
	Begin(r *http.Request, instance string)
	// End is told the status of the answer, or why there is none.
	End(status int, err error)
}

// Body gives a request's body as often as it is asked to.
type Body interface {
	// Reader is a fresh reader, which is closed when it is done with.
	Reader() io.ReadCloser
}

// Served says what became of a call on its way.
type Served struct {
	// Instance is the one that answered, or was the last not to, by the name it goes by
	// in Hint; "" where the agent has no instances.
	Instance string
	// Tries is how many instances had the call; 0 where it was kept from all of them.
	Tries int
	// Elsewhere says that another instance has the task, which did not answer: that
	// this one knows of no such task means nothing.
	Elsewhere bool
}

// ErrLate is the cause with which callers end a call's context because the answer has
// not come in time. It is the agent's fault; other ends are the caller's.
var ErrLate = errors.New("the agent's answer did not come in time")

// Unavailable says that a call was kept from the agent. Nothing was sent.
type Unavailable struct {
	// After is when it may be worth another try.
	After time.Duration
	// Why is for operators.
	Why string
}

// Error implements error.
func (u *Unavailable) Error() string { return u.Why }

// unreached is an error before a connection was there: nothing was sent.
//
// It is unwrapped like any wrapping error, and errors.As finds it.
type unreached struct{ error }

// Unwrap returns the error itself.
func (u unreached) Unwrap() error { return u.error }

// ErrNotHTTP is about an answer over HTTP/1.1 that came, and cannot be read: it is not written
// as HTTP wants it, or its head is too large.
var ErrNotHTTP = http1.ErrFraming
