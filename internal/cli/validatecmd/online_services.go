package validatecmd

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/state/shared"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// services are checks of what the configuration names beside agents: those who issue tokens
// (discovery and key set), the state (Redis), and databases of audit records. Each begins what it
// says with the key of its section. Sinks of other kinds are not asked: a topic or a receiver
// could only be tried by sending it a record.
func services(cfg *config.Config, egress *tunnel.Proxy) []func(context.Context) outcome {
	var checks []func(context.Context) outcome
	add := func(at string, check func(context.Context) outcome) {
		checks = append(checks, func(ctx context.Context) outcome { return check(ctx).Of(at) })
	}
	for i := range cfg.Authn.OIDC {
		add(fmt.Sprintf("authn.oidc[%d]", i), func(ctx context.Context) outcome { return Reach(ctx, cfg.Authn.OIDC[i], egress) })
	}
	if o := cfg.Admin.OIDC; o != nil {
		add("admin.oidc", func(ctx context.Context) outcome { return Reach(ctx, jwt.Issuer{Issuer: o.Issuer}, egress) })
	}
	if cfg.State.Driver == "redis" {
		add("state", func(ctx context.Context) outcome { return tryRedis(ctx, cfg) })
	}
	for i, s := range cfg.Telemetry.Audit.Sinks {
		if kind, try := s.Probe(); try != nil {
			add(fmt.Sprintf("telemetry.audit.sinks[%d].%s", i, kind), func(ctx context.Context) outcome {
				return outcome{Err: try(ctx)}
			})
		}
	}
	return checks
}

// Issuers are the issuers of callers' tokens, in the order of the file: that at i is what Online
// calls authn.oidc[i].
func Issuers(cfg *config.Config) (list []string) {
	for i := range cfg.Authn.OIDC {
		list = append(list, cfg.Authn.OIDC[i].Issuer)
	}
	return list
}

// Reach asks an issuer of tokens for its keys.
func Reach(ctx context.Context, issuer jwt.Issuer, egress *tunnel.Proxy) outcome {
	odd, err := jwt.Reach(ctx, issuer, egress)
	if err != nil || odd == "" {
		return outcome{Err: err}
	}
	return outcome{odd: []string{odd}}
}

// tryRedis connects and writes one key, as a gateway does when it starts; a server that takes no
// writes is found so. It has what the driver would log beside what is wrong.
func tryRedis(ctx context.Context, cfg *config.Config) outcome {
	var log warnings
	if err := shared.Try(ctx, cfg.State, slog.New(&log)); err != nil {
		return outcome{Err: err}
	}
	return outcome{odd: log.list}
}

// warnings is a log of which only the warnings count.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// Enabled implements slog.Handler, as do those below.
func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle keeps a warning as a line.
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(" (%s: %s)", a.Key, a.Value)
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
	return nil
}

// WithAttrs leaves them out, as WithGroup does.
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup changes nothing.
func (w *warnings) WithGroup(string) slog.Handler { return w }

// skillsOf are the skills that rules may name: those that the operator lists, or else the card's.
// The list is not nil, so that an agent without skills differs from one without a card.
func skillsOf(a *agents.Config, c *card.Card) []string {
	ids := []string{}
	for _, s := range a.Skills {
		ids = append(ids, s.ID)
	}
	if len(ids) > 0 {
		return ids
	}
	for i := range c.Skills {
		ids = append(ids, c.Skills[i].ID)
	}
	return ids
}

// unknownSkills are what rules name and, by the cards, is not there. Rules on an agent without
// a card are left alone.
func unknownSkills(cfg *config.Config, book *ext.Book, skills [][]string) []error {
	rules, _, err := policy.Compile(cfg.Policy.Config, cfg.RuleAgents(), book.Extra().Methods()...)
	if err != nil {
		return []error{err}
	}
	known := map[string][]string{}
	for i, list := range skills {
		if list != nil {
			known[cfg.Agents[i].ID] = list
		}
	}
	now := time.Now()
	// What Lint says without knowing any card was said by validate already.
	before := rules.Lint(policy.Known{Now: now})
	var errs []error
	for _, w := range rules.Lint(policy.Known{Skills: known, Now: now}) {
		if !slices.Contains(before, w) {
			errs = append(errs, fmt.Errorf("policy: %s", w))
		}
	}
	return errs
}
