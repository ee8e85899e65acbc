// Package cardtrust makes for each agent the judge of its cards, puts on record what is ruled
// of them, and follows what people decide about cards at other gateways.
//
// An agent's card goes from its source to the judge that Judge has made. The judge compares
// it with the card in force, verifies its signature where the configuration wants one, and
// rules; ruled then counts the ruling and, where it is new, records and logs it. What a
// person decides about a card that waits is written into the book, at whichever gateway:
// Follow has all judges look again.
package cardtrust

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Cards are what is known of the cards that agents have, whichever configuration they came under.
type Cards struct {
	Book  *trust.Book // of the cards that were seen
	Names trust.Fleet // of agents, by their cards in force

	telemetry *telemetry.Telemetry
	audit     *audit.Log
	drifts    Drifts
}

// Drifts are told of cards that have changed.
type Drifts interface {
	CardDrift(agent, changes string) // begins
	CardSettled(agent string)        // somebody has decided
}

// New makes the part. What is in the book is sealed: who can write to the state must not be
// able to approve a card there.
func New(sealed state.Values, t *telemetry.Telemetry, log *audit.Log, drifts Drifts) *Cards {
	return &Cards{Book: trust.NewBook(sealed), telemetry: t, audit: log, drifts: drifts}
}

// Judge makes who decides about an agent's cards, and what ends it. Without
// card.trust.signature no signature is verified, and end has nothing to end. The error
// names the key.
func (c *Cards) Judge(a *agents.Config, egress *tunnel.Proxy) (_ *trust.Judge, end func(), _ error) {
	log := c.telemetry.Log.With("agent", a.ID)
	o := trust.Options{
		Agent: a.ID, From: a.Card.URL.Reveal(), Book: c.Book, Fleet: &c.Names, Log: log, Verified: c.telemetry.Metrics.Cards.Verified,
		Limits: a.Card.Limits.Texts(),
		Ruled:  func(_ context.Context, r trust.Ruling) { c.ruled(a.ID, &r) },
	}
	end = func() {}
	if t := a.Card.Trust.Signature; !t.IsZero() {
		v, err := signature.New(t, signature.Options{Egress: egress, Skipped: c.signerSkipped(log)})
		if err != nil {
			return nil, nil, fmt.Errorf("card: trust: signature: %w", err)
		}
		o.Verifier, end = v, v.Close
	}
	return trust.New(a.Card.Trust, o), end, nil
}

// signerSkipped says which key of those who sign cards cannot be used.
func (c *Cards) signerSkipped(log *slog.Logger) func(string, jws.Skipped) {
	return func(source string, k jws.Skipped) {
		log.Log(context.Background(), k.Level(), "key of card signatures skipped", "source", source, "reason", string(k.Reason), "err", k.String())
		c.telemetry.Metrics.Credentials.JWKSKeySkipped(string(k.Reason))
	}
}

// ruled counts a ruling, and puts on record and into the log what is new. The same card is
// ruled on at each fetch; only the first time is new. The event has the digests of both
// cards and what differs, so that the record alone shows what was known when somebody
// decided.
func (c *Cards) ruled(agent string, r *trust.Ruling) {
	c.telemetry.Metrics.Cards.Ruled(agent, string(r.State), r.Standing != r.Digest, r.New, r.Score)
	c.drifted(agent, r)
	if !r.New {
		return
	}
	worst, log := trust.Worst(r.Changes), c.telemetry.Log.With("agent", agent)
	kind := "card.changed"
	switch r.State {
	case trust.Quarantined:
		kind = "card.quarantined"
		log.Warn("agent card quarantined", "digest", r.Digest, "why", r.Why, "in_force", r.Standing)
	case trust.Refused:
		kind = "card.refused"
		log.Warn("agent card refused", "digest", r.Digest, "why", r.Why, "in_force", r.Standing)
	case trust.Alerted:
		log.Warn("agent card changed", "digest", r.Digest, "changes", r.Why, "before", r.Against)
	default:
		if r.Against == "" { // what is new with the configuration is no event of its own
			log.Info("agent card seen for the first time", "digest", r.Digest)
			if worst == trust.Danger {
				log.Warn("agent card", "warning", trust.Words(r.Changes))
			}
			return
		}
		log.Info("agent card changed", "digest", r.Digest, "changes", trust.Words(r.Changes), "before", r.Against)
	}
	attrs := map[string]string{
		"agent": agent, "digest": r.Digest, "state": string(r.State), "before": r.Against, "severity": string(worst),
		"changes": trust.Words(r.Changes), "why": r.Why, "signature": r.Signature, "score": strconv.Itoa(r.Score),
	}
	maps.DeleteFunc(attrs, func(_, value string) bool { return value == "" })
	if err := c.audit.Event(kind, attrs); err != nil {
		c.telemetry.Log.Error("write audit event", "error", err)
	}
}

// drifted reports that a card has changed, until somebody has decided about it.
func (c *Cards) drifted(agent string, r *trust.Ruling) {
	switch {
	case r.State == trust.Approved, r.State == trust.Rejected:
		c.drifts.CardSettled(agent)
	case r.New && r.Against != "": // not the first that was seen
		c.drifts.CardDrift(agent, trust.Words(r.Changes))
	}
}

// decisionsEvery is how often a gateway looks whether people have decided about cards at
// another one.
const decisionsEvery = 2 * time.Second

// Follow judges cards in force anew after decisions that were made at other gateways which
// share the state, until closed is. The book is asked for its latest decision; cards are
// judged anew when that is another one than before. An error is tried again with the next
// tick.
func (c *Cards) Follow(current *snapshot.Current, closed <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(decisionsEvery)
	defer tick.Stop()
	known, err := c.Book.Decisions(ctx)
	for first := err == nil; ; {
		select {
		case <-closed:
			return
		case <-tick.C:
		}
		latest, err := c.Book.Decisions(ctx)
		if err != nil || first && latest == known {
			continue
		}
		known, first = latest, true
		if s := current.Acquire(); s != nil {
			for id := range s.Agents {
				s.Agents[id].Rejudge(ctx)
			}
			s.Release()
		}
	}
}
