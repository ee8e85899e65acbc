package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// openConsole binds the admin listener.
func (g *Gateway) openConsole(cfg *config.Config, version string) (err error) {
	g.records = newRecords(cfg.Telemetry.Audit.Config, g.keys)
	g.console, err = console.Open(cfg.Admin, console.Options{
		Deliveries: deliveries{g.store, sealing{g.keys, pushSeal}}, Cards: cards{g}, Agents: registry{g}, Contents: contents{g.audit}, Running: running{g, version}, Records: g.records, Policy: policies{g}, Extensions: extensions{g}, Callers: callers{g}, Trials: trials{g}, Streams: streams{&g.streams},
		Egress: g.egress, Version: version, Dir: cfg.Server.DataDir, Audit: g.audit.Event, FailOpen: cfg.Telemetry.Audit.FailOpen(),
		Log: g.telemetry.Log, Tokens: g.tokenLimits(&cfg.Authn), KeySkipped: g.telemetry.Metrics.JWKSKeySkipped, Sockets: g.sockets,
	})
	if err != nil {
		return fmt.Errorf("admin.%w", err)
	}
	return nil
}

// tokenLimits are those of the configuration in force, or those to start with.
func (g *Gateway) tokenLimits(start *authn.Config) func() authn.Limits {
	begun := start.Limits
	return func() authn.Limits {
		if s := g.current.Load(); s != nil {
			return s.config.Authn.Limits
		}
		return begun
	}
}

// AdminURL is the admin listener's address as a URL; "" where there is none.
func (g *Gateway) AdminURL() string { return g.console.URL() }

// consoleAttrs say in the log where the console is for a browser, and in which file its token
// is where the configuration has none.
func (g *Gateway) consoleAttrs() []any {
	var attrs []any
	if at := g.AdminURL(); at != "" {
		attrs = append(attrs, "console", at+"/ui/")
	}
	if at := g.console.TokenAt(); at != "" {
		attrs = append(attrs, "console_token_file", at)
	}
	return attrs
}

// contents are what was captured, as the console sees it.
type contents struct{ *audit.Log }

// Of implements console.Contents.
func (c contents) Of(ctx context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error) {
	var list []vault.Item
	for item, err := range c.Captured(s, after) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("list content: %w", err)
		}
		if list = append(list, item); len(list) == limit {
			break
		}
	}
	return list, nil
}

// deliveries are the queue of webhooks as the console sees it. They are there whatever
// push.mode is: those of a configuration that has gone are kept.
type deliveries struct {
	queue  state.Queue
	cipher state.Cipher
}

// List implements console.Deliveries.
func (d deliveries) List(ctx context.Context, dead bool, after string, limit int) ([]push.Shown, error) {
	items, err := d.queue.Items(ctx, push.Queue, dead, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	list := make([]push.Shown, len(items))
	for i := range items {
		list[i] = push.Show(items[i], d.cipher)
	}
	return list, nil
}

// Depth implements console.Deliveries.
func (d deliveries) Depth(ctx context.Context) (state.Depth, error) {
	return d.queue.Depth(ctx, push.Queue, time.Now())
}

// Retry implements console.Deliveries. Those who deliver look at the queue every second.
func (d deliveries) Retry(ctx context.Context, id string) (bool, error) {
	return d.queue.Revive(ctx, push.Queue, id, time.Now())
}

// Drop implements console.Deliveries.
func (d deliveries) Drop(ctx context.Context, id string) (bool, error) {
	return d.queue.Remove(ctx, push.Queue, id)
}
