package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
		if s := g.acquire(); s != nil {
			for id := range s.agents {
				s.agents[id].rejudge(ctx)
			}
			s.release()
		}
	}
}

// rejudge has the source log what is wrong, if anything is.
func (m *member) rejudge(ctx context.Context) { _ = m.agent.Source.Rejudge(ctx) }

// cardLine says in /readyz?verbose that an agent's card waits for a person, and that it is
// the one that was kept.
func (m *member) cardLine(id string) (lines []string) {
	r := m.judge.Status()
	switch r.State {
	case trust.Alerted, trust.Quarantined, trust.Rejected, trust.Refused:
		lines = append(lines, fmt.Sprintf("agent %s card: failed: %s: %s (%s)", id, r.State, r.Why, r.Digest))
	}
	if since, ok := m.agent.Source.Kept(); ok {
		lines = append(lines, fmt.Sprintf("agent %s card: kept, not fetched since: in force since %s (%s)",
			id, since.Format(time.RFC3339), time.Since(since).Round(time.Second)))
	}
	return lines
}

// judgedAlike reports whether which cards of an agent count is as it was before a reload: the
// card's URL, what is set of trust, and the keys in its files, which are read anew.
func (m *member) judgedAlike(old *member) bool {
	if m.config.Card.URL != old.config.Card.URL || !reflect.DeepEqual(m.config.Card.Trust, old.config.Card.Trust) {
		return false
	}
	now, _ := m.judge.Verifier.(*signature.Verifier)
	before, _ := old.judge.Verifier.(*signature.Verifier)
	return now.SameFiles(before)
}

// cards are the agents' cards as the console sees them.
type cards struct{ gateway *Gateway }

// List implements console.Cards.
func (c cards) List(context.Context) ([]console.Card, error) {
	s := c.gateway.acquire()
	if s == nil {
		return nil, errClosed
	}
	defer s.release()
	list := make([]console.Card, 0, len(s.agents))
	for _, id := range slices.Sorted(maps.Keys(s.agents)) {
		m := s.agents[id]
		shown := console.Card{Agent: id, URL: m.config.Card.URL, Ruling: m.judge.Status()}
		if err := m.agent.Source.Err(); err != nil {
			shown.Failure = err.Error()
		}
		if current := m.agent.Source.Current(); current != nil {
			shown.InForce = current.Raw
		}
		list = append(list, shown)
	}
	return list, nil
}

// View implements console.Cards. It asks what requests for the card are answered with.
func (c cards) View(_ context.Context, agent string, q *console.Viewed) (*console.CardView, error) {
	s := c.gateway.acquire()
	if s == nil {
		return nil, errClosed
	}
	defer s.release()
	switch m := s.agents[agent]; {
	case m == nil:
		return nil, nil //nolint:nilnil // there is no such agent
	case m.agent.Source.Current() == nil:
		return nil, console.ErrNoCard
	}
	version, ok := wire.ParseVersion(cmp.Or(q.Version, string(wire.V10)))
	if !ok {
		return nil, console.QuestionInvalid{Member: "version", Err: errors.New("want 1.0, 0.3 or 0.1")}
	}
	var who *authn.Principal
	var err error
	if q.Caller != nil || s.config.Authn.Anonymous {
		if who, err = explain.Identify(q.Caller, &s.config.Authn, time.Now()); err != nil {
			return nil, console.QuestionInvalid{Member: "caller", Err: err}
		}
	}
	body, form, err := s.proxy.CardFor(who, agent, version)
	return &console.CardView{Visible: body != nil, Card: body, Form: string(form), Stranger: who == nil}, err
}

// History implements console.Cards.
func (c cards) History(ctx context.Context, agent string) ([]trust.Entry, error) {
	return c.gateway.book.History(ctx, agent)
}

// Document implements console.Cards.
func (c cards) Document(ctx context.Context, agent, digest string) ([]byte, bool, error) {
	return c.gateway.book.Document(ctx, agent, digest)
}

// Approve implements console.Cards.
func (c cards) Approve(ctx context.Context, agent, digest, by string) (bool, error) {
	return c.decide(ctx, agent, digest, by, c.gateway.book.Approve)
}

// Reject implements console.Cards.
func (c cards) Reject(ctx context.Context, agent, digest, by string) (bool, error) {
	return c.decide(ctx, agent, digest, by, c.gateway.book.Reject)
}

func (c cards) decide(
	ctx context.Context, agent, digest, by string,
	write func(ctx context.Context, agent, digest, by string) (trust.Entry, error),
) (bool, error) {
	s := c.gateway.acquire()
	if s == nil {
		return false, errClosed
	}
	defer s.release()
	m := s.agents[agent]
	if m == nil {
		return false, nil
	}
	_, err := write(ctx, agent, digest, by)
	if errors.Is(err, trust.ErrNotWaiting) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m.rejudge(ctx)
	return true, nil
}
