package upstream

import (
	"errors"
	"net"
	"net/http"
	"sync/atomic"
)

// Trouble is what the latest calls, and looks at where they go, say of an agent.
type Trouble string

// The troubles. None is the empty one.
const (
	Unreachable Trouble = "unreachable" // no connection comes about
	Failing     Trouble = "failing"     // calls are sent, and one after the other fails
)

// fewest is how many calls in a row have to fail: one that does may be to blame itself.
const fewest = 3

// trouble is what is known of it. A call that goes well costs a load.
type trouble struct {
	row  atomic.Int32 // calls that failed since one has gone well
	lost atomic.Bool  // the latest of them had no connection
}

// note takes over what became of a call. Errors of A2A are answers.
func (t *trouble) note(r *http.Request, resp *http.Response, err error) {
	var kept *Unavailable // by the circuit; it says nothing new
	switch what := judge(r, resp, err); {
	case what == unsaid || errors.As(err, &kept):
	case what == well && resp.StatusCode < http.StatusInternalServerError:
		t.reached()
	default:
		var op *net.OpError
		t.lost.Store(errors.As(err, &op) && op.Op == "dial")
		t.row.Add(1)
	}
}

func (t *trouble) reached() {
	if t.row.Load() != 0 {
		t.row.Store(0)
		t.lost.Store(false)
	}
}

// Trouble says what keeps calls from the agent, "" where nothing is known to.
func (u *Upstream) Trouble() Trouble {
	switch row := u.trouble.row.Load(); {
	case row > 0 && u.trouble.lost.Load():
		return Unreachable
	case row >= fewest:
		return Failing
	}
	return ""
}

// Looked takes over whether somebody who looked found where calls go reachable. That the
// agent fails calls only another call can show to be over.
func (u *Upstream) Looked(reachable bool) {
	switch {
	case !reachable:
		u.trouble.lost.Store(true)
		u.trouble.row.CompareAndSwap(0, 1)
	case u.trouble.lost.Load():
		u.trouble.reached()
	}
}
