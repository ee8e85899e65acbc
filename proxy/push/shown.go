package push

import (
	"net/url"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Shown is what a person may see of a delivery in the queue: whose it is, where it goes
// and how it stands. It has nothing of contents and secrets, and of the address only
// what Target says.
type Shown struct {
	ID     string
	Agent  string // with what follows, "" where Sealed
	Task   string
	Config string
	Owner  string
	Target string // scheme, host and port of the webhook

	Attempts int
	Failure  string // what the latest attempt came to; "" before the first
	Created  time.Time
	Due      time.Time
	Dead     bool
	Sealed   bool // it does not open: it was sealed with another key, or changed
}

// Show says what may be seen of an item of the queue.
func Show(it state.Item, c state.Cipher) Shown {
	s := Shown{
		ID: it.ID, Attempts: tried(it), Failure: it.Error,
		Created: it.Pushed, Due: it.Due, Dead: it.Dead,
	}
	if number, what, ok := strings.Cut(it.Error, ": "); ok && strings.HasPrefix(number, "attempt ") {
		s.Failure = what
	}
	d, err := openItem(it, c)
	if err != nil {
		s.Sealed = true
		return s
	}
	s.Agent, s.Task, s.Config, s.Owner = d.Agent, d.Task, d.Config, d.Owner
	if u, err := url.Parse(d.URL); err == nil && u.Host != "" {
		s.Target = origin(u)
	}
	return s
}
