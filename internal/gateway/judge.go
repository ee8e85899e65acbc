package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// cardSeal is what the record of cards is sealed for: it says what is inside, and who can
// write to the state must not be able to approve a card there.
const cardSeal = "cards"

func (g *Gateway) newBook() *trust.Book {
	return trust.NewBook(state.Sealed(g.store, sealing{g.keys, cardSeal}))
}

// judge makes who decides about an agent's cards, and what ends it.
func (g *Gateway) judge(a *agents.Config, egress *tunnel.Proxy) (_ *trust.Judge, end func(), _ error) {
	log := g.telemetry.Log.With("agent", a.ID)
	o := trust.Options{
		Agent: a.ID, From: a.Card.URL.Reveal(), Book: g.book, Fleet: &g.names, Log: log, Verified: g.telemetry.Metrics.CardVerified,
		Limits: a.Card.Limits.Texts(),
		Ruled:  func(_ context.Context, r trust.Ruling) { g.ruled(a.ID, &r) },
	}
	end = func() {}
	if t := a.Card.Trust.Signature; !t.IsZero() {
		v, err := signature.New(t, signature.Options{Egress: egress, Skipped: g.signerSkipped(log)})
		if err != nil {
			return nil, nil, fmt.Errorf("card: trust: signature: %w", err)
		}
		o.Verifier, end = v, v.Close
	}
	return trust.New(a.Card.Trust, o), end, nil
}

// signerSkipped says which key of those who sign cards cannot be used.
func (g *Gateway) signerSkipped(log *slog.Logger) func(string, jws.Skipped) {
	return func(source string, k jws.Skipped) {
		log.Log(context.Background(), k.Level(), "key of card signatures skipped", "source", source, "reason", string(k.Reason), "err", k.String())
		g.telemetry.Metrics.JWKSKeySkipped(string(k.Reason))
	}
}

// ruled counts a ruling, and puts on record and into the log what is new.
func (g *Gateway) ruled(agent string, r *trust.Ruling) {
	g.telemetry.Metrics.CardRuled(agent, string(r.State), r.Standing != r.Digest, r.New, r.Score)
	g.drifted(agent, r)
	if !r.New {
		return
	}
	worst, log := trust.Worst(r.Changes), g.telemetry.Log.With("agent", agent)
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
	if err := g.audit.Event(kind, attrs); err != nil {
		g.telemetry.Log.Error("write audit event", "error", err)
	}
}

// decisionsEvery is how often a gateway looks whether people have decided about cards at
// another one.
const decisionsEvery = 2 * time.Second

// watchDecisions judges cards anew after decisions that were made at other gateways which
// share the state.
func (g *Gateway) watchDecisions() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(decisionsEvery)
	defer tick.Stop()
	known, err := g.book.Decisions(ctx)
	for first := err == nil; ; {
		select {
		case <-g.closed:
			return
		case <-tick.C:
		}
		latest, err := g.book.Decisions(ctx)
		if err != nil || first && latest == known {
			continue
		}
		known, first = latest, true
		if s := g.current.Acquire(); s != nil {
			for id := range s.Agents {
				s.Agents[id].Rejudge(ctx)
			}
			s.Release()
		}
	}
}
