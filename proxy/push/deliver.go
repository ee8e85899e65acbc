package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// task is one item on its way.
//
// It holds what was true when it began: a reload in the middle changes nothing about an attempt.
type task struct {
	item     state.Item
	delivery *Delivery
	target   *url.URL // nil where it is not allowed
	settings *settings
	number   int // of this attempt
	began    time.Time
	trace    string             // traceparent that goes with it; "" for none
	traced   func(Outcome, int) // told what it came to; nil for nobody
}

func (t *task) visit() visit { return visit{origin(t.target), t.delivery.Owner} }

// begin sets out to deliver an item, or says when to do so where its target is busy or out
// of order, or its owner has as much under way as there may be; that is no attempt.
//
// Zero means that it is under way or settled. An item that cannot be opened is buried: no key
// will open it later.
func (w *Worker) begin(s *settings, it state.Item) (later time.Time) {
	now := w.Clock.Now()
	t := &task{item: it, settings: s, number: tried(it) + 1, began: now}
	d, err := openItem(it, w.Cipher)
	if err != nil {
		t.delivery = &Delivery{ID: it.ID}
		w.settle(t, result{outcome: outcomeDead, why: errUnreadable.Error()})
		return time.Time{}
	}
	t.delivery = d
	if t.target, err = s.client.Check(d.URL); err != nil {
		w.settle(t, judge(nil, err))
		return time.Time{}
	}
	later, ok := w.targets.enter(t.visit(), now, s.limits(), s.Attempts.Timeout.Std())
	if !ok {
		if s.Attempts.over(now, it.Pushed) && w.targets.open(t.visit()) {
			t.number--
			w.settle(t, result{outcome: outcomeDead, why: "the target is out of order"})
			return time.Time{}
		}
		return later
	}
	if t.trace = d.Traceparent; w.Trace != nil {
		t.trace, t.traced = w.Trace(d, t.number)
	}
	w.slots.Add(1)
	w.running.Go(func() { w.run(t) })
	return time.Time{}
}

// putBack leaves what the latest attempt came to as it is.
func (w *Worker) putBack(ctx context.Context, it state.Item, due time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	w.note(it, w.Queue.Again(ctx, Queue, w.Holder, it.ID, due, it.Error))
}

// run delivers one item. Its place is free, and the worker awake, before it returns.
//
// A panic in an attempt is logged and counts as a failure, and the places it held are given back:
// everything that settles is deferred.
func (w *Worker) run(t *task) {
	r := result{outcome: outcomeFailed, why: "internal error"}
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("a delivery broke", "delivery", t.delivery, "cause", fmt.Sprint(p))
		}
		w.targets.leave(t.visit(), w.Clock.Now(), w.Clock.Now().Sub(t.began), r.verdict, t.settings.limits())
		w.settle(t, r)
		w.slots.Add(-1)
		w.Wake()
	}()
	r = w.attempt(t)
}

// attempt asks the target to agree, where it has to, and sends the notification.
//
// The headers are made for each attempt, since the signature and the timestamp are good for
// minutes.
func (w *Worker) attempt(t *task) result {
	s := t.settings
	if r, stands := w.stands(t); !stands {
		return r
	}
	if s.Challenge == challengeRequired {
		if r, agreed := w.challenge(t); !agreed {
			return r
		}
	}
	h, err := w.signer.headers(t.delivery, t.target, t.trace, w.Clock.Now())
	if err != nil {
		w.Log.Error("a webhook cannot be signed", "err", err)
		return result{outcome: outcomeFailed, why: "it could not be signed"}
	}
	return w.send(s, http.MethodPost, t.delivery.URL, h, t.delivery.Body)
}

// send is one request, and what it means.
func (w *Worker) send(s *settings, method, target string, h http.Header, body []byte) result {
	answer, err := s.client.Send(w.context, method, target, h, body)
	r := judge(answer, err)
	if answer != nil {
		r.asked, _ = failure.RetryAfter(answer.Header, w.Clock.Now())
	}
	return r
}

// result is what an attempt came to.
type result struct {
	outcome Outcome
	verdict verdict // on the target
	status  int
	why     string
	asked   time.Duration // how long the target wants to be left alone
	noCount bool          // it was no attempt: try again later, as if nothing had been
	body    []byte        // of the answer
}

// judge says what an answer means. Redirects are not followed, so they are failures.
//
// The verdict is on the target, the outcome on the item: 404 fails the item and says that the
// target is there, 503 fails both.
func judge(a *egress.Answer, err error) result {
	var e *egress.Error
	switch {
	case errors.Is(err, egress.ErrRefused) && errors.As(err, &e):
		return result{outcome: outcomeRefused, why: string(e.Why)}
	case errors.Is(err, context.Canceled):
		return result{noCount: true, why: "cancelled"}
	case errors.As(err, &e):
		return result{outcome: outcomeFailed, verdict: unwell, why: string(e.Why)}
	case err != nil:
		return result{outcome: outcomeFailed, verdict: unwell, why: "internal error"}
	}
	r := result{outcome: outcomeFailed, verdict: well, status: a.Status, why: fmt.Sprintf("status %d", a.Status), body: a.Body}
	switch {
	case a.Status >= 200 && a.Status < 300:
		r.outcome = Delivered
	case a.Status == http.StatusGone:
		r.outcome = outcomeGone
	case a.Status >= 500 || a.Status == http.StatusTooManyRequests:
		r.verdict = unwell // whatever is wrong is not about this webhook alone
	}
	return r
}

// settle tells the queue, and those who listen, what became of an item.
//
// The queue is told without the worker's context, which has ended when the worker is stopped: an
// attempt that has been made should not be made again.
func (w *Worker) settle(t *task, r result) {
	now := w.Clock.Now()
	if t.traced != nil {
		defer func() { t.traced(r.outcome, r.status) }() // settled
	}
	if r.noCount && w.context.Err() != nil {
		return // broken off: it is due again when its lease has ended
	}
	a := t.settings.Attempts
	if (r.outcome == outcomeFailed || r.noCount) && a.over(now, t.item.Pushed) {
		r.outcome, r.noCount = outcomeDead, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.context), settleTimeout)
	defer cancel()
	id, said := t.item.ID, failed(t.number, r.why)
	switch {
	case r.noCount:
		w.note(t.item, w.Queue.Again(ctx, Queue, w.Holder, id, now.Add(r.asked), t.item.Error))
		return
	case r.outcome == Delivered:
		w.note(t.item, w.Queue.Done(ctx, Queue, w.Holder, id))
	case r.outcome == outcomeFailed:
		due := a.after(t.number, now, t.item.Pushed, r.asked)
		w.note(t.item, w.Queue.Again(ctx, Queue, w.Holder, id, due, said))
	default: // a dead letter
		w.note(t.item, w.Queue.Bury(ctx, Queue, w.Holder, id, said, now, t.settings.keep()))
		if r.status == http.StatusGone {
			w.forget(ctx, t.delivery)
		}
		w.Log.Warn("a webhook is given up", "delivery", t.delivery, "attempts", t.number, "why", r.why)
	}
	w.observe(t, r, now)
}

// note logs what the queue could not be told. The item is due again when its lease has
// ended, and is then delivered a second time, under the same ID.
func (w *Worker) note(it state.Item, err error) {
	if err != nil && !errors.Is(err, state.ErrTaken) {
		w.Log.Warn("the queue of webhooks was not told what became of one", "id", it.ID, "err", err)
	}
}

// observe tells Observe, if anybody listens. Its duration is zero where no request was made.
func (w *Worker) observe(t *task, r result, now time.Time) {
	if w.Observe == nil {
		return
	}
	d := t.delivery
	a := Attempt{
		ID: d.ID, Agent: d.Agent, Task: d.Task, Config: d.Config, Name: d.Name, Owner: d.Owner,
		Version: string(d.Version), Host: d.Host(), Traceparent: t.trace,
		Number: t.number, Outcome: r.outcome, Status: r.status, Why: r.why, Waited: now.Sub(t.item.Pushed),
	}
	if r.verdict != silent {
		a.Duration = now.Sub(t.began)
	}
	w.Observe(a)
}
