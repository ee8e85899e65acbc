package pdp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// verdict is what an authorizer decided.
// The reason goes into the audit record, never to the caller.
type verdict struct {
	allow  bool
	reason string // its own words, cut short and printable; may be empty
}

// decider speaks one of the protocols. An error means that nothing was decided; where
// that is due to the question, and not to the service, it is a *final.
// decide is called by many goroutines at once and has to keep to the deadline of its context.
type decider interface {
	decide(ctx context.Context, in *inquiry) (verdict, error)
	close()
}

// final is a failure that is never passed over. The question cannot be put, or the
// service found it bad, and a caller can see to it that a question is bad; or nobody is
// left who waits for the answer.
type final struct{ error }

// Unwrap returns the cause.
func (f *final) Unwrap() error { return f.error }

// away is a failure that no question is to blame for: nobody was there to be asked.
type away struct{ error }

// Unwrap returns the cause.
func (a *away) Unwrap() error { return a.error }

// What Options.Asked is told.
const (
	resultAllow = "allow"
	resultDeny  = "deny"
	resultError = "error"
	// Also the answer to another call's question that was shared.
	resultCached = "cached"
)

// authorizer is one Authorizer, compiled.
type authorizer struct {
	name    string
	agents  patterns
	skills  patterns
	methods []*wire.Method // nil for all
	shadow  bool
	passes  bool // onFailure: allow
	message bool
	// Claims of a principal are told only where they are listed: they may be personal data.
	claims  patterns // exact names, or a lone star
	gateway string
	timeout time.Duration

	// Questions are bounded four times: by life, which ends with the panel, by timeout, by the
	// breaker, and by turns, which share the connections out among callers.
	life    context.Context
	decider decider
	breaker breaker.Breaker
	turns   *share.Turns
	// flights joins questions that are the same while one of them is on its way.
	cache   *cache // nil for none
	flights singleflight.Group
	log     *slog.Logger
	asked   func(name, result string, took time.Duration)
}

// newAuthorizer makes a valid Authorizer ready. Errors begin with the key below it.
func newAuthorizer(life context.Context, c *Authorizer, o *Options) (*authorizer, error) {
	a := &authorizer{
		name: c.Name, agents: c.Agents, skills: c.Skills, claims: append(patterns{}, c.Claims...),
		shadow: c.Mode == modeShadow, passes: c.OnFailure == failAllow, message: c.Message,
		gateway: o.Gateway, timeout: cmp.Or(c.Timeout.Std(), defaultTimeout),
		turns: share.NewTurns(maxAsking / 2),
		life:  life, log: o.Log.With("authorizer", c.Name), asked: o.Asked,
	}
	if c.Cache > 0 {
		a.cache = newCache(c.Cache.Std())
	}
	files, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	if c.Kind == kindExtAuthz {
		a.decider, err = newExtAuthz(c, files, o.Egress, a.log)
		return a, err
	}
	a.decider = newAuthZEN(life, c, files, o.Egress)
	return a, nil
}

// close ends the connections. A panel that failed to compile has authorizers without a decider.
func (a *authorizer) close() {
	if a.decider != nil {
		a.decider.close()
	}
}

// label is the name, and that it only watches.
func (a *authorizer) label() string {
	if a.shadow {
		return a.name + " (shadow)"
	}
	return a.name
}

// answer is the verdict on a call: remembered, shared with others who ask the same at
// this moment, or fresh. Without a cache every call is asked about by itself: an answer
// that was on its way before a call came would be as good as a remembered one.
func (a *authorizer) answer(ctx context.Context, q *Question, skills []string) (verdict, error) {
	in, err := a.inquire(q, skills)
	if err != nil {
		a.asked(a.name, resultError, 0)
		return verdict{}, err
	}
	if a.cache == nil {
		return a.ask(ctx, in)
	}
	start := time.Now()
	// The digest leaves out the time and the id of the call, which every question has another of.
	key := in.key()
	if v, ok := a.cache.get(key, start); ok {
		a.asked(a.name, resultCached, time.Since(start))
		return v, nil
	}
	mine := false
	// Calls that ask the same at the same time are one question. It is asked for as long as the
	// panel lives, not for the call that came first, whose client may leave before the answer.
	flight := a.flights.DoChan(string(key[:]), func() (any, error) {
		mine = true
		v, err := a.ask(a.life, in)
		// Failures are not remembered: the next call asks again.
		if err == nil {
			a.cache.put(key, v, start)
		}
		return v, err
	})
	select {
	case <-ctx.Done():
		return verdict{}, &final{ctx.Err()}
	case r := <-flight:
		v, _ := r.Val.(verdict) // nothing else is in it
		// The question that was asked has been counted by ask; the others count as cached.
		if !mine && r.Err == nil {
			a.asked(a.name, resultCached, time.Since(start))
		}
		return v, r.Err
	}
}

// ask puts a question, and keeps count of how that goes.
func (a *authorizer) ask(ctx context.Context, in *inquiry) (verdict, error) {
	start, who := time.Now(), in.q.Principal.Key()
	// A service that does not answer is not asked for a while: each call would wait its timeout.
	if err := a.breaker.Enter(start, who); err != nil {
		a.asked(a.name, resultError, 0)
		return verdict{}, a.own(start, who, err)
	}
	own, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	// A reload that closes the panel ends its questions, whatever the calls' own contexts.
	defer context.AfterFunc(a.life, cancel)()
	// No caller has more than a share of the connections, or one with slow questions would keep
	// those of all others waiting.
	if err := a.turns.Enter(own, who); err != nil {
		a.breaker.Leave(time.Now(), who, breaker.Unknown)
		a.asked(a.name, resultError, time.Since(start))
		return verdict{}, &final{fmt.Errorf("this caller's questions before it take too long: %w", err)}
	}
	v, err := a.decider.decide(own, in)
	a.turns.Leave(who)
	now := time.Now()
	var bad *final
	var gone *away
	result, shown := resultAllow, breaker.Alive
	switch {
	// Nobody waits for the answer any more, which says nothing of the service.
	case err != nil && (a.life.Err() != nil || over(ctx, own, err)):
		a.breaker.Leave(now, who, breaker.Unknown)
		return verdict{}, &final{err}
	case errors.As(err, &bad):
		result = resultError
	case errors.As(err, &gone) || breaker.Unreached(err):
		result, shown = resultError, breaker.Away
	case err != nil:
		result, shown = resultError, breaker.Failed
	case !v.allow:
		result, shown = resultDeny, breaker.Refused
	}
	if turned := a.breaker.Leave(now, who, shown); turned {
		a.tell(shown, err)
	}
	a.asked(a.name, result, now.Sub(start))
	if shown == breaker.Failed {
		err = a.own(now, who, err)
	}
	return v, err
}

// own makes a failure one that is never passed over where it is the caller's affair: the
// service is at work, or has refused this caller, who may know what it fails at.
func (a *authorizer) own(now time.Time, who string, err error) error {
	if errors.Is(err, breaker.ErrResting) || !a.breaker.Own(now, who) {
		return err
	}
	return &final{err}
}

// over reports whether a question failed because its call came to an end. A service that
// is told the deadline may be the first to say that it has passed.
func over(call, question context.Context, err error) bool {
	ends, bounded := call.Deadline()
	latest, _ := question.Deadline()
	return call.Err() != nil || bounded && ends.Equal(latest) && errors.Is(err, context.DeadlineExceeded)
}

// tell logs that the authorizer is given up, or back.
// It is logged when the breaker turns, not for each call.
func (a *authorizer) tell(o breaker.Outcome, err error) {
	if o == breaker.Alive || o == breaker.Refused {
		a.log.Info("the authorizer answers again")
		return
	}
	a.log.Warn("the authorizer does not answer and is left alone for a while", "error", err)
}
