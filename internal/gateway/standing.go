package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// standing is whether calls reach an agent: a word of telemetry.AgentStates, and why.
type standing struct{ word, why string }

// pending is before anything is known.
func (s standing) pending() bool { return s.word == telemetry.AgentPending }

func (s standing) serving() bool { return s.word == telemetry.AgentServing }

// text is for people.
func (s standing) text() string { return s.word + ": " + s.why }

// standing says how the agent stands. Of several reasons it is the one that keeps most calls
// away.
func (m *member) standing() standing {
	current, err, ruling := m.agent.Source.Current(), m.agent.Source.Err(), m.judge.Status()
	waits := ruling.State == trust.Quarantined
	up, trouble := m.agent.Upstream.State(), m.agent.Upstream.Trouble()
	switch {
	case current == nil && waits && err != nil:
		return standing{telemetry.AgentCardWaiting, err.Error()}
	case errors.Is(err, card.ErrPending) && current == nil:
		return standing{telemetry.AgentPending, err.Error()}
	case current == nil && err != nil:
		return standing{telemetry.AgentNoCard, err.Error()}
	case current == nil:
		return standing{telemetry.AgentNoCard, "card not fetched yet"}
	case !m.agent.Callable():
		return standing{telemetry.AgentNoInterface, "the card names no interface that can be called; write one down under interfaces, or list its origin under endpoints"}
	case trouble == upstream.Unreachable:
		return standing{telemetry.AgentUnreachable, "no connection to where calls go comes about"}
	case len(m.config.Load.Instances) > 0 && up.Healthy == 0:
		return standing{telemetry.AgentUnreachable, fmt.Sprintf("none of %d instances is healthy", up.Instances)}
	case trouble == upstream.Failing:
		return standing{telemetry.AgentFailing, "one call after the other fails"}
	case waits:
		return standing{telemetry.AgentCardWaiting, fmt.Sprintf("another card waits for a decision: %s (%s)", ruling.Why, ruling.Digest)}
	case err != nil && !errors.Is(err, card.ErrPending):
		return standing{telemetry.AgentCardStale, err.Error()}
	}
	return standing{word: telemetry.AgentServing}
}

// lookTimeout ends one look at an address.
const lookTimeout = 2 * time.Second

// look finds out whether calls have somewhere to go, right after the card was fetched: with
// its origin there is a connection then, and with others one is tried, over which nothing
// is sent.
func look(a *agents.Config, c *card.Card, up *upstream.Upstream) {
	usable, _ := a.Usable(c)
	if len(usable) == 0 || len(a.Load.Instances) > 0 { // whose instances are checked
		return
	}
	own := hostPort(a.Card.URL)
	for _, i := range usable {
		at := hostPort(secret.URL(i.URL))
		if at == own || connects(up, at) {
			up.Looked(true)
			return
		}
	}
	up.Looked(false)
}

func connects(up *upstream.Upstream, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	return up.Connects(ctx, address)
}

// hostPort is what is connected to.
func hostPort(at secret.URL) string {
	u, err := at.Parse()
	if err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port(u))
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// standingEvery is how often the log is told of agents that calls reach no more, or again.
const standingEvery = time.Second

// watchStanding logs when it begins that an agent is not serving, when it is so for another
// reason, and when it ends.
func (g *Gateway) watchStanding() {
	type spell struct {
		word  string
		since time.Time
	}
	known := map[string]spell{}
	tick := time.NewTicker(standingEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.closed:
			return
		case <-tick.C:
		}
		s := g.acquire()
		if s == nil {
			continue
		}
		for id := range known {
			if s.agents[id] == nil {
				delete(known, id)
			}
		}
		for id, m := range s.agents {
			now, before := m.standing(), known[id]
			switch {
			case now.pending() || now.word == before.word:
			case !now.serving():
				known[id] = spell{now.word, time.Now()}
				g.telemetry.Log.Warn("agent not serving", "agent", id, "state", now.word, "why", now.why)
			case before.word != "":
				delete(known, id)
				g.telemetry.Log.Info("agent serving again", "agent", id, "was", before.word, "for", time.Since(before.since).Round(time.Second).String())
			}
		}
		s.release()
	}
}
