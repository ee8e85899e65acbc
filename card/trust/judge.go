package trust

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
)

// Verifier says whose signatures a card has, as a signature.Verifier does.
// The error is one of those of package signature, of which ErrUnavailable may pass.
type Verifier interface {
	Verify(ctx context.Context, card []byte) (signature.Verdict, error)
}

// Options are what a Judge needs beside its configuration.
type Options struct {
	Agent    string
	From     string // URL of the card: what was kept of another does not count
	Book     *Book
	Fleet    *Fleet
	Verifier Verifier    // nil where signatures are not looked at
	Limits   lint.Limits // that the card is served with

	// Verified is called with what became of each card's signatures: ok, unsigned,
	// untrusted, unavailable or malformed. Ruled is called with each ruling. Both may be nil.
	Verified func(result string)
	Ruled    func(context.Context, Ruling)

	Log *slog.Logger
}

// Judge decides which card of an agent is in force. It is safe for concurrent use.
// There is one for each agent.
type Judge struct {
	Options

	config Config
	mu     sync.Mutex
	status Ruling // the latest
	went   bool   // a card has come into force: one is until another comes in its place
	noted  noted
}

// Ruling is what became of a card that an agent serves.
type Ruling struct {
	Entry

	// InForce is the card to go by: the one that was judged, or the part of it that is
	// signed, or another one that stands; nil for none.
	InForce []byte
	// Standing is the digest of InForce, "" for none.
	Standing string
	// New is whether this is the first ruling of this kind on the card, of all replicas.
	New bool
	// Since is when a card came into force that was kept; zero of one that the agent serves.
	Since time.Time
}

// New makes a judge for a valid c. Until its first ruling an agent is pending, which is not refused:
// nothing is known yet.
func New(c Config, o Options) *Judge {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Fleet == nil {
		o.Fleet = new(Fleet)
	}
	return &Judge{Options: o, config: c.withDefaults(), status: Ruling{Entry: Entry{State: Pending}}}
}

// Status is the latest ruling, of this process: another replica may have ruled since.
func (j *Judge) Status() Ruling {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// Judge rules on a card that the agent serves now, and remembers it. The error means that
// nothing could be decided, so that all stays as it is.
// It is called each time the card was fetched, also when it is the same as before.
func (j *Judge) Judge(ctx context.Context, card []byte) (Ruling, error) {
	c, err := j.open(ctx, card)
	if err != nil {
		return Ruling{}, err
	}
	r, err := j.rule(ctx, c)
	if err != nil && !c.refused() && j.lenient(ctx, c) {
		j.Log.Warn("agent card not compared with the one before", "error", err)
		r, err = c.ruling(Accepted, "", c.doc, c.Digest), nil
	}
	if err != nil {
		return Ruling{}, err
	}
	j.publish(ctx, c, r)
	return r, nil
}

// publish has everybody know of a ruling.
// The status is set before others are told, so that whoever asks because of that finds it.
func (j *Judge) publish(ctx context.Context, c *candidate, r Ruling) {
	j.mu.Lock()
	j.status, j.went = r, j.went || r.InForce != nil
	went := j.went
	j.mu.Unlock()
	if slices.Equal(r.InForce, c.doc) {
		j.Fleet.set(j.Agent, identify(c.profile))
	} else if p, err := read(r.InForce); r.InForce != nil && err == nil {
		j.Fleet.set(j.Agent, identify(p))
	} else if !went && r.Since.IsZero() {
		j.Fleet.drop(j.Agent) // what stands from before is not allowed any more
	}
	if j.Ruled != nil {
		j.Ruled(ctx, r)
	}
}

// lenient says whether a card may be served without the state, where there is nothing to
// compare it with: who wants no more than to be told of changes wants agents to be served, and who
// has cards wait for a person wants none to pass while nobody can tell whether it changed.
// Whose name or skills it may not have has to be known all the same.
func (j *Judge) lenient(ctx context.Context, c *candidate) bool {
	if j.config.OnChange == actQuarantine || j.config.FirstSeen == actQuarantine ||
		j.config.Collisions != reportCollisions && j.Fleet.recall(ctx, j.Book, j.Agent) != nil {
		return false
	}
	taken, _ := j.Fleet.claim(j.Agent, nil, c.profile, j.forbids)
	return !slices.ContainsFunc(taken, j.forbids)
}

// forbids says whether a collision has a card refused. A name is what people and models choose by,
// so that it can be forbidden alone; the id of a skill is often the same in a fleet of a kind.
func (j *Judge) forbids(taken Change) bool {
	return j.config.Collisions == refuseAll || j.config.Collisions == refuseNames && taken.Kind == nameTaken
}

// open reads a card and what vouches for it.
//
// A card that is refused is opened all the same: people see what was refused, with its findings and
// changes. An error is about a card that cannot be read, or about keys that cannot be had.
func (j *Judge) open(ctx context.Context, card []byte) (*candidate, error) {
	digest, err := Digest(card)
	if err != nil {
		return nil, err
	}
	c := &candidate{Entry: Entry{Digest: digest, Seen: j.Book.now().UTC()}, raw: card, doc: card}
	// What vouches for a card is looked at first: of a card that is signed, what the signature
	// covers is all that may be used.
	if err := j.verify(ctx, c, card); err != nil {
		return nil, err
	}
	if len(j.config.Digests) > 0 {
		// Pinned digests are over what the agent sent: whoever pins one has seen the whole card.
		if c.sure = slices.Contains(j.config.Digests, digest); !c.sure {
			c.State, c.Why = Refused, "its digest is none of card.trust.digests"
		}
	}
	if c.profile, err = read(c.doc); err != nil {
		return nil, err
	}
	// Cards are fetched again every few minutes and hardly ever change.
	if latest := j.Status(); latest.Digest == digest {
		c.Findings = latest.Findings
	} else if c.Findings, err = lint.Check(card, j.Limits); err != nil {
		return nil, err
	}
	c.Score = lint.Score(c.Findings)
	return c, nil
}

// verify looks at the signatures. An error means that they may hold later.
// A signature that does not hold is reported where it is not required, and decides nothing.
func (j *Judge) verify(ctx context.Context, c *candidate, card []byte) error {
	if j.Verifier == nil {
		return nil
	}
	verdict, err := j.Verifier.Verify(ctx, card)
	if j.Verified != nil {
		j.Verified(verdictName(err))
	}
	c.Signature = excerpt(verdict.String(), maxExcerpt)
	required := j.config.Signature.Required
	c.Signed = err == nil
	switch {
	case err == nil && required:
		c.doc, c.sure = verdict.Payload, true
	case err == nil || !required:
	case errors.Is(err, signature.ErrUnavailable):
		return err
	default:
		c.State, c.Why = Refused, excerpt(err.Error(), maxExcerpt)
	}
	return nil
}

// verdictName is what became of a card's signatures, as metrics have it: the label's closed set.
func verdictName(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, signature.ErrUnsigned):
		return "unsigned"
	case errors.Is(err, signature.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, signature.ErrMalformed):
		return "malformed"
	}
	return "untrusted"
}

// rule compares a card with the one that stands.
// Claiming a name comes before the card stands, and is given back when it could not: of two agents
// whose cards take one name at the same moment only one comes into force.
func (j *Judge) rule(ctx context.Context, c *candidate) (Ruling, error) {
	standing, stands, err := j.standing(ctx)
	if err != nil {
		return Ruling{}, err
	}
	// The usual case: the agent serves the card that is in force.
	if stands && standing.Digest == c.Digest && !c.refused() {
		j.keep(ctx, c, c.Digest, standing.At)
		return c.ruling(standing.State, "", c.doc, c.Digest), nil
	}
	known, seen, err := j.Book.Entry(ctx, j.Agent, c.Digest)
	if err != nil {
		return Ruling{}, err
	}
	old, err := j.compare(ctx, c, standing, stands)
	if err != nil {
		return Ruling{}, err
	}
	// Nothing about the card itself speaks against it: now it is about what has changed.
	if c.State == "" {
		c.State, c.Why = j.decide(c, stands)
	}
	back := func() {}
	if c.comes() {
		var taken []Change // by now: others are judged at the same time
		taken, back = j.Fleet.claim(j.Agent, old, c.profile, j.forbids)
		j.meet(c, taken)
	}
	why := c.Why
	// What a person has rejected does not wait for one again.
	if seen && known.State == Rejected && c.State == Quarantined {
		c.State, c.Why, c.By, c.Decided = Rejected, "it was rejected", known.By, known.Decided
	}
	r := c.ruling(c.State, c.Why, standing.Card, standing.Digest)
	r.New = !seen || known.State != c.State
	if c.comes() {
		r.InForce, r.Standing = c.doc, c.Digest
		if err := j.stand(ctx, c, standing.Digest, &r); err != nil {
			back()
			return Ruling{}, err
		}
	}
	if !r.New {
		r.Seen = known.Seen
		if r.Against == known.Against {
			return r, nil
		}
	}
	// Another card in force is no news of this one, but what has changed is something else.
	e := r.Entry
	if e.State == Rejected {
		e.Why = why // what somebody rejected it for
	}
	return r, j.Book.remember(ctx, j.Agent, e, c.doc, j.config.History, j.config.Keep.Std())
}

// standing is the card that stands, if the configuration of today allows it. A card that came
// into force before signatures were required, or that is not among the digests any more, is as
// if it had never been.
// It is asked with each fetch, since the configuration may have been reloaded.
func (j *Judge) standing(ctx context.Context) (Standing, bool, error) {
	s, ok, err := j.Book.Standing(ctx, j.Agent)
	if err != nil || !ok ||
		len(j.config.Digests) > 0 && !slices.Contains(j.config.Digests, s.Digest) ||
		j.config.Signature.Required && !s.Signed {
		return Standing{}, false, err
	}
	return s, true, nil
}

// compare fills in what has changed since the card that stands, and returns that one's
// profile, nil for none. It is the part that may be used which is compared, signed or not: what is
// left out of a card by its signature cannot change it.
func (j *Judge) compare(ctx context.Context, c *candidate, standing Standing, stands bool) (old *profile, err error) {
	if stands {
		if c.Changes, err = Diff(standing.Card, c.doc); err != nil {
			return nil, fmt.Errorf("compare with the card in force: %w", err)
		}
		if old, err = read(standing.Card); err != nil {
			return nil, err
		}
		c.Against = standing.Digest
	}
	if err := j.Fleet.recall(ctx, j.Book, j.Agent); err != nil {
		return nil, fmt.Errorf("compare with other agents: %w", err)
	}
	c.own = len(c.Changes)
	j.meet(c, j.Fleet.collisions(j.Agent, old, c.profile))
	return old, nil
}

// meet fills in what other agents have too, in the place of what they had before, and refuses the
// card where that is forbidden. It is asked twice: by what was known when the card was compared, and
// when it is about to come into force.
func (j *Judge) meet(c *candidate, taken []Change) {
	c.Changes = append(c.Changes[:c.own:c.own], taken...)
	for i := range taken {
		if !c.refused() && j.forbids(taken[i]) {
			c.State, c.Why = Refused, taken[i].Text
		}
	}
}

// decide says what becomes of a card that nothing speaks against but that it is new.
// A severity of info, such as another version of the agent, never waits for a person.
func (j *Judge) decide(c *candidate, stands bool) (State, string) {
	worst := Worst(c.Changes)
	switch {
	// Whoever pins digests has decided: the card is one of them, or was refused above.
	case len(j.config.Digests) > 0:
		return Accepted, ""
	case !stands && !c.sure && j.config.FirstSeen == actQuarantine:
		return Quarantined, "no card of the agent was approved yet"
	case !worst.Worse(Info), !stands && j.config.OnChange != actQuarantine:
		return Accepted, "" // that another has its name is said, and is the operator's doing
	}
	switch j.config.OnChange {
	case actQuarantine:
		return Quarantined, Words(c.Changes)
	case actAlert:
		return Alerted, Words(c.Changes)
	}
	return Accepted, ""
}

// stand makes a card the one that stands, in the place of before, "" for none. Where changes
// wait for people, the card that they approved stays what others are compared with: many
// harmless steps may go a long way.
// The state decides between replicas; where another was first, this card waits.
func (j *Judge) stand(ctx context.Context, c *candidate, before string, r *Ruling) error {
	s := Standing{Digest: c.Digest, State: c.State, At: c.Seen, Signed: c.Signed, Card: c.doc}
	switch {
	// The state writes the first card only where there is none, which is how replicas agree without
	// a lock.
	case before == "":
		first, err := j.Book.first(ctx, j.Agent, s)
		if err == nil && (c.sure || j.config.OnChange != actQuarantine) && first.Digest != c.Digest {
			return j.replace(ctx, c, s)
		}
		if err == nil && first.Digest == c.Digest {
			j.keep(ctx, c, c.Digest, s.At)
		}
		if err != nil || first.Digest == c.Digest {
			return err
		}
		// Another replica saw another first card at the same moment.
		r.State, r.Why, r.InForce, r.Standing = Quarantined, "another card was seen first", first.Card, first.Digest
		return nil
	case j.config.OnChange == actQuarantine && len(j.config.Digests) == 0:
		j.keep(ctx, c, before, s.At)
		return nil
	}
	r.New = true // whatever was said of it when it was in force before
	return j.replace(ctx, c, s)
}

// replace has a card stand whatever stood before.
func (j *Judge) replace(ctx context.Context, c *candidate, s Standing) error {
	if err := j.Book.stand(ctx, j.Agent, s); err != nil {
		return err
	}
	j.keep(ctx, c, s.Digest, s.At)
	return nil
}
