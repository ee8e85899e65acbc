package upstream

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
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

// callersFor is how long others than the one whose calls fail are thought to call as well.
const callersFor = time.Minute

// trouble is what is known of it. A call that goes well costs a few loads.
type trouble struct {
	row     row         // calls that failed since one has gone well
	lost    atomic.Bool // the latest of them had no connection, or nobody who looked
	broken  atomic.Bool // one of them had no answer, or one for want of somebody to give it
	callers callers
}

// note takes over what became of a call, and whose it was. Errors of A2A are answers, 501
// for what the agent does not have among them.
func (t *trouble) note(r *http.Request, who uint64, resp *http.Response, err error) {
	var kept *Unavailable // by the circuit; it says nothing new
	now := time.Now().UnixNano()
	t.callers.note(who, now)
	switch what := judge(r, resp, err); {
	case tunnel.Blames(err): // whoever calls: no connection comes about
		t.lost.Store(true)
		t.row.add(who, now, 0)
	case what == unsaid || errors.As(err, &kept):
	case what == well && !failing(meaning(resp)):
		t.reached()
	default:
		t.lost.Store(NoConnection(err))
		t.row.add(who, now, 0)
		if what == failed {
			t.broken.Store(true)
		}
	}
}

// reached ends what was wrong: a call has gone well, or a look has found the agent.
func (t *trouble) reached() {
	if t.row.n.Load() != 0 || t.lost.Load() {
		t.row.over()
		t.lost.Store(false)
		t.broken.Store(false)
	}
}

// failing reports whether a status says that a call was not served, and not what is wrong
// with it.
func failing(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}

// Trouble says what keeps calls from the agent, "" where nothing is known to. Of several
// instances one that cannot be reached does not. What one caller's calls are answered is
// no trouble where others call as well.
func (u *Upstream) Trouble() Trouble {
	t := &u.trouble
	n := t.row.n.Load()
	switch {
	case t.lost.Load() && (u.fleet == nil || n >= fewest):
		return Unreachable
	case n >= fewest && (t.broken.Load() || t.row.shared() || t.callers.single(time.Now().UnixNano(), callersFor)):
		return Failing
	}
	return ""
}

// Looked takes over whether somebody who looked found where calls go reachable. That the
// agent fails calls only another call can show to be over.
func (u *Upstream) Looked(reachable bool) { u.trouble.looked(reachable) }

func (t *trouble) looked(reachable bool) {
	switch {
	case !reachable:
		t.lost.Store(true)
	case t.lost.Load():
		t.reached()
	}
}
