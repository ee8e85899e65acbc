// Package snapshot is one configuration as it is served: what requests are answered from,
// for as long as the last of them goes on.
package snapshot

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// Snapshot is one configuration, built whole. It never changes. A request uses
// the one it began with, a stream of hours too; a snapshot closes when it has
// been replaced and its last request has ended.
type Snapshot struct {
	Config *config.Config
	Public *url.URL
	Egress *tunnel.Proxy
	Proxy  *proxy.Proxy
	Chain  *authn.Chain
	Agents map[string]*Member

	Rules  *policy.Set
	Guards *guard.Set
	Limits *limits.Limiter
	Panel  *pdp.Panel
	Book   *ext.Book

	Refs  atomic.Int64
	Close func()

	Linting sync.Mutex      // guards warned
	Warned  map[string]bool // what lint has said
}

// WaitReady gives agents and issuers that have never been seen a moment to answer,
// so that the first callers find cards and keys. Whoever is away is reported by
// /readyz or the log, and asked again in the background.
func (s *Snapshot) WaitReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, FirstAnswer)
	defer cancel()
	warm := make(chan struct{})
	go func() {
		defer close(warm)
		_ = s.Chain.Warm(ctx) // the chain logs it
	}()
	for _, m := range s.Agents {
		_ = m.Agent.Source.Wait(ctx)
		m.Agent.Upstream.Wait(ctx)
	}
	<-warm
}

// Retire ends the refreshing of the cards that next goes without. A stream may hold on to
// such a member for a day: it goes by the card that is there, and what an agent that was
// removed serves now is nobody's concern.
func (s *Snapshot) Retire(next *Snapshot) {
	for id, m := range s.Agents {
		if next.Agents[id] != m {
			m.Retire()
		}
	}
}

// Dismiss lets go of the members; the last snapshot to do so ends them.
func (s *Snapshot) Dismiss() {
	s.Book.Close()
	if s.Limits != nil {
		s.Limits.Close()
	}
	if s.Panel != nil {
		s.Panel.Close()
	}
	s.Guards.Close()
	for _, m := range s.Agents {
		if m.Users.Add(-1) == 0 {
			m.Stop()
			m.Agent.Upstream.Close()
		}
	}
}

// Hold keeps s until release, for who has it already.
func (s *Snapshot) Hold() (release func()) {
	s.Refs.Add(1)
	return s.Release
}

func (s *Snapshot) Release() {
	if s.Refs.Add(-1) == 0 {
		s.Close()
	}
}

// Current is the snapshot in force; none before the first one, and once the gateway
// has closed.
type Current struct{ atomic.Pointer[Snapshot] }

// Acquire returns the snapshot in force, held until release, or nil once the
// gateway has closed. Between loading the pointer and counting, a reload may have
// let go of it: then the next one is it.
func (c *Current) Acquire() *Snapshot {
	for {
		s := c.Load()
		if s == nil {
			return nil
		}
		s.Refs.Add(1)
		if c.Load() == s {
			return s
		}
		s.Release()
	}
}

// ErrClosed answers a reload that comes when the gateway is going away.
var ErrClosed = errors.New("the gateway is shutting down")

// Bounds are the limits in force.
func (c *Current) Bounds() overload.Limits {
	if s := c.Load(); s != nil {
		return s.Config.Server.Limits.Overload()
	}
	return overload.Limits{}
}

// FirstAnswer is how long building waits for agents' cards, all together. A reload
// that adds an agent then serves it at once; a gateway that starts before its
// agents does not wait longer than this.
const FirstAnswer = 2 * time.Second
