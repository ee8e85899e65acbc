package jwt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Bounds of the questions to one issuer.
const (
	// maxQuestions in flight at once: tokens that nobody can read are cheap to make up,
	// and each costs the issuer a look.
	maxQuestions = 64
	// questionShare of them may be one client address's that are about tokens that may be made
	// up. The first of an address, and those about tokens that are not, have a place beyond
	// maxQuestions, up to twice as many, lest a few addresses keep all others waiting.
	questionShare = 16
	// heldFor is how long a token that was good is none that was made up. Many callers may
	// have one address, and are asked about again whenever answers have run out.
	heldFor = time.Hour
	// questionPause follows a failure.
	questionPause = time.Second
)

// introspector asks one issuer about tokens: one question per token at a time,
// whoever waits for it, and none about a token it was told about a moment ago.
//
//	a token that was answered a moment ago   recall, no question
//	the same token is being asked about      join, and wait
//	another one, and there is room           run asks; the answer is remembered
//	no room, or the issuer is failing        authn.ErrUnavailable
type introspector struct {
	issuer string
	cfg    Introspection
	source *source // finds the endpoint
	client *http.Client
	log    *slog.Logger
	now    func() time.Time
	ctx    context.Context // ends questions; done when the last chain lets go

	// Tokens that were found good are kept apart from those that were not, so that
	// strangers with made-up tokens cannot push callers out.
	good, bad findings
	held      memory[struct{}] // tokens that were good within heldFor

	turn chan struct{} // held by whoever uses source.address

	mu      sync.Mutex
	flights map[[32]byte]*question
	shares  map[netip.Addr]int // of flights, by the address that was first to ask
	// Everything from flights on is guarded by mu.
	failures int       // since the last answer
	failed   time.Time // when the last question failed
	err      error     // and why
}

// heldWeight is about what a token takes that is held.
const heldWeight = 128

// finding is what an answer about a token comes to.
type finding struct {
	principal *authn.Principal // who holds it; nil when err is set, and for JWTs
	bound     confirmation     // to be proved by each request
	asked     time.Time        // when the question was put
	until     time.Time        // how long it is good
	err       error            // a *Refused, or one that wraps ErrUnavailable
}

// findings remembers answers about tokens of one issuer, memoryBytes of them at most.
type findings struct{ memory[finding] }

// add remembers a finding.
func (f *findings) add(id [32]byte, v finding, now time.Time) {
	f.remember(id, v, weight(v.principal), v.asked, v.until, now)
}

// question is one that is being asked. finding is set once done is closed.
// Closing done publishes the finding to whoever waits.
type question struct {
	done    chan struct{}
	finding finding
	who     asker // who asked first
}

// judge makes a finding out of the members of an answer about an active token. It
// sets principal or err; until only to shorten what the configuration says.
type judge func(claims map[string]any, now time.Time) finding

// newIntrospector prepares the questions to an issuer that has introspection. Nothing
// is asked yet. ctx ends them all.
func newIntrospector(ctx context.Context, is *Issuer, o *Options) *introspector {
	client := o.Client
	if client == nil {
		// Unlike key sets, answers are needed all the time: connections stay open.
		t := &http.Transport{DialContext: o.Egress.Dialer(fetchTimeout), ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: fetchTimeout, MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost: maxQuestions, IdleConnTimeout: 30 * time.Second}
		context.AfterFunc(ctx, t.CloseIdleConnections)
		client = &http.Client{Transport: t}
	}
	return &introspector{issuer: is.Issuer, cfg: *is.Introspection, log: o.Logger, now: o.Now, ctx: ctx,
		source: newEndpointSource(is, client, o.Now), client: strict(client), turn: make(chan struct{}, 1),
		flights: make(map[[32]byte]*question), shares: make(map[netip.Addr]int)}
}

// recall knows what was found out about a token a moment ago.
func (in *introspector) recall(id [32]byte) (finding, bool) {
	now := in.now()
	if f, ok := in.good.find(id, now); ok {
		return f, true
	}
	return in.bad.find(id, now)
}

// ask finds out about a token, id being its digest. A caller who leaves gets
// ErrUnavailable, and the question goes on for the others.
func (in *introspector) ask(ctx context.Context, id [32]byte, raw string, who asker, j judge) finding {
	q, first, known, err := in.join(id, raw, who, j)
	switch {
	case err != nil:
		return finding{err: err}
	case q == nil:
		return known
	}
	if err := await(ctx, q.done); err != nil {
		return finding{err: err}
	}
	// Only the caller who asked is charged for it; others have asked nothing.
	if f := q.finding; first && f.err != nil {
		f.err = counted(f.err, q.who)
		return f
	}
	return q.finding
}

// join finds the question that is being asked about the token, or asks it; nil when the
// answer came while the lock was waited for. first is who asked it.
func (in *introspector) join(id [32]byte, raw string, who asker, j judge) (q *question, first bool, known finding, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if q := in.flights[id]; q != nil {
		return q, false, finding{}, nil
	}
	if f, ok := in.recall(id); ok {
		return nil, false, f, nil
	}
	if !who.known {
		_, who.known = in.held.find(id, in.now())
	}
	// A question costs the issuer work and is charged before it is put; a good token has it
	// refunded.
	if err := who.charge(in.now()); err != nil {
		return nil, false, finding{}, err
	}
	if err := in.admits(who); err != nil {
		return nil, false, finding{}, who.refund(in.unavailable(err))
	}
	q = &question{done: make(chan struct{}), who: who}
	in.flights[id] = q
	in.shares[who.from]++
	go in.run(q, id, raw, j)
	return q, true, finding{}, nil
}

// admits reports why no question may be asked now.
// The error is for the log; the caller is answered 503.
func (in *introspector) admits(who asker) error {
	held := 0
	if who.from.IsValid() {
		held = in.shares[who.from]
	}
	switch {
	case in.failures > 0 && !elapsed(in.failed, in.now(), questionPause):
		return in.err
	case in.failures > 0 && len(in.flights) > 0:
		return in.err // one tries whether the issuer is back
	case held >= who.share():
		return fmt.Errorf("more than %d questions at once for one address", who.share())
	case len(in.flights) >= 2*maxQuestions, len(in.flights) >= maxQuestions && !who.known && (held > 0 || !who.from.IsValid()):
		return fmt.Errorf("more than %d questions at once", maxQuestions)
	}
	return nil
}

// run asks one question to its end.
func (in *introspector) run(q *question, id [32]byte, raw string, j judge) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(in.ctx, in.cfg.patience())
	defer cancel()
	// It ends by the time that the configuration gives it, or with the last chain, never with the
	// call.
	asked := in.now()
	claims, err := in.question(ctx, raw)
	switch {
	case err != nil:
		q.finding = finding{err: in.unavailable(err)}
	case claims == nil:
		q.finding = finding{err: refuse(faultInactive, nil)}
	default:
		q.finding = j(claims, in.now())
	}
	// By age from the question, not from the answer: it is no younger than that.
	q.finding.asked = asked
	age := in.cfg.age()
	if q.finding.err != nil {
		age = max(age, defaultAnswerAge) // good tokens end, and bad ones do not become good
	}
	if until := asked.Add(age); q.finding.until.IsZero() || until.Before(q.finding.until) {
		q.finding.until = until
	}
	in.settle(q, id, err)
}

// settle remembers what was found before the question is taken off the list, so that
// nobody asks it again in between.
func (in *introspector) settle(q *question, id [32]byte, failure error) {
	now := in.now()
	switch {
	case failure != nil:
	case q.finding.err != nil:
		in.bad.add(id, q.finding, now)
	default:
		in.good.add(id, q.finding, now)
		in.held.remember(id, struct{}{}, heldWeight, q.finding.asked, now.Add(heldFor), now)
	}
	if !errors.As(q.finding.err, new(*authn.Refused)) {
		_ = q.who.refund(nil)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.flights, id)
	if in.shares[q.who.from]--; in.shares[q.who.from] == 0 {
		delete(in.shares, q.who.from)
	}
	switch {
	case failure == nil && in.failures > 0:
		in.failures, in.err = 0, nil
		in.log.Info("introspection answers again", "issuer", in.issuer)
	case failure == nil, in.ctx.Err() != nil, isAboutToken(failure):
	default:
		in.failures++
		in.failed, in.err = now, failure
		level := slog.LevelDebug // an outage of hours is one warning, not hundreds
		if in.failures == 1 {
			level = slog.LevelWarn
		}
		in.log.Log(in.ctx, level, "introspection failed", "issuer", in.issuer, "err", failure)
	}
}

// isAboutToken tells a failure that another token need not meet from one of the
// endpoint. Otherwise a stranger with an odd token could keep everybody waiting.
func isAboutToken(err error) bool {
	var status errStatus
	return errors.As(err, &status) && status == http.StatusBadRequest
}

// unavailable says that a token cannot be judged now, and why, for the log.
func (in *introspector) unavailable(cause error) error {
	return fmt.Errorf("%w: introspection at issuer %s: %w", authn.ErrUnavailable, in.issuer, cause)
}
