package upstream

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/http1"
)

// mostAttempts is what Retry.Attempts may be.
const mostAttempts = 10

// roundTrip has one instance, and where that does no harm another, answer a request.
//
// The budget, the attempts and the answer of before decide whether it goes on. An answer that is
// not passed on is closed, and its place counts for the next attempt.
func (f *fleet) roundTrip(u *Upstream, r *http.Request, h *Hint, who uint64) (*http.Response, Served, error) {
	var room [mostAttempts]*instance
	before, served := room[:0], Served{}
	var last error
	f.budget.deposit()
	for {
		start := time.Now().UnixNano()
		i, era, err := f.choose(h, before, start)
		if err != nil {
			return nil, served, cmp.Or(last, err) // what an instance says is nearer to the truth
		}
		before = append(before, i)
		served = Served{Instance: i.address, Tries: len(before), Elsewhere: f.only(h) && i.address != h.Instance}
		i.calls.Add(1)
		i.callers.note(who, start)
		if h.Trail != nil {
			h.Trail.Begin(r, i.address)
		}
		resp, err := i.trip(r)
		good := f.heard(i, era, who, judge(r, resp, err), meaning(resp))
		if err == nil {
			if good {
				i.measure(resp, start, time.Now().UnixNano())
			}
			resp.Body = &counted{ReadCloser: resp.Body, of: u, caller: h.Caller, instance: &i.calls}
		} else {
			i.calls.Add(-1)
		}
		if !f.again(r, h, resp, err) || len(before) >= f.Retry.Attempts || !f.another(h, before) || !f.budget.withdraw() {
			return resp, served, err
		}
		if h.Trail != nil {
			h.Trail.End(statusOf(resp), err)
		}
		if last = err; resp != nil {
			u.again(h.Caller) // the next answer's, in the place of this one's
			_ = resp.Body.Close()
		}
		r = r.WithContext(r.Context())
		if r.Body != nil && h.Body != nil {
			r.Body = h.Body.Reader()
		}
		if f.o.Retried != nil {
			f.o.Retried()
		}
	}
}

// statusOf is the status of an answer, 0 for none.
func statusOf(resp *http.Response) int {
	if resp == nil {
		return 0
	}
	return resp.StatusCode
}

// again reports whether a call may be sent once more after what has become of it:
// whatever it is where nothing of it was written, and reads after what another may
// answer better.
func (f *fleet) again(r *http.Request, h *Hint, resp *http.Response, err error) bool {
	switch {
	case r.Context().Err() != nil, r.Body != nil && h.Body == nil:
		return false
	case err == nil:
		return h.Safe && slices.Contains(f.Retry.Statuses, resp.StatusCode)
	case h.Safe:
		return true
	}
	return NotSent(err)
}

// NotSent reports whether nothing of a request has come to the agent that ended with err.
func NotSent(err error) bool {
	var no unreached
	return errors.As(err, &no) || errors.Is(err, http1.ErrNotSent)
}

// NoConnection reports whether a request ended with err because no connection came about, directly or
// through a proxy.
func NoConnection(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, ok := errors.AsType[*tunnel.Error](err)
	return ok
}

// another reports whether somebody else may have the call.
func (f *fleet) another(h *Hint, before []*instance) bool {
	if !h.Safe && f.only(h) {
		return false
	}
	return f.any(f.set.Load(), before, nil, time.Now().UnixNano()) != nil
}

// only reports whether one instance alone knows the task of a call, and is there.
func (f *fleet) only(h *Hint) bool {
	return h.Task && h.Instance != "" && f.byTask && f.Affinity.strict() && f.set.Load().names[h.Instance] != nil
}

// budget says how much may be sent again: a share of the calls, and a little always.
// Without it, retries would double the load at the moment at which an agent breaks
// down under it.
type budget struct {
	percent int64
	saved   atomic.Int64 // hundredths of attempts
	spare   atomic.Int64 // Unix nanoseconds; when the last of the spare ones was, or would have been
}

const (
	attempt     = 100           // of saved
	mostSaved   = 100 * attempt // what may be saved up
	spareEvery  = int64(time.Second) / 3
	spareAtOnce = 3
)

// deposit adds a call's share.
func (b *budget) deposit() {
	if b.saved.Load() < mostSaved {
		b.saved.Add(b.percent)
	}
}

// withdraw takes an attempt, if there is one.
func (b *budget) withdraw() bool {
	for have := b.saved.Load(); have >= attempt; have = b.saved.Load() {
		if b.saved.CompareAndSwap(have, have-attempt) {
			return true
		}
	}
	for {
		now, last := time.Now().UnixNano(), b.spare.Load()
		next := max(last, now-spareAtOnce*spareEvery) + spareEvery
		if next > now {
			return false
		}
		if b.spare.CompareAndSwap(last, next) {
			return true
		}
	}
}
