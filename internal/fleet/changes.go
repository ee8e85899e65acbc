package fleet

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
)

// reloads put configurations into force. Whoever changes the fleet holds the lock, as whoever
// reloads the file does, from looking at the registry until the configuration is served.
type reloads interface {
	sync.Locker
	// Replace serves a configuration. ready, if there is one, is called when nothing else can
	// fail, and keeps everything as it is by an error.
	Replace(ctx context.Context, cfg *config.Config, ready func() error) error
}

// Changes has the fleet rebuilt when there are other agents than before. It is used by one
// goroutine for what others change (Follow), and by requests for what operators change
// (Agents); the lock of Reloads keeps the two apart.
type Changes struct {
	Registry *Registry
	Reloads  reloads
	Current  *snapshot.Current
	Audit    *audit.Log
}

// rebuild makes a snapshot of the files as they were loaded and of the agents there are
// now. Where it fails, the fleet before goes on. The error is logged once for as long as it
// is the same, and stands in /readyz until a rebuild succeeds.
func (c *Changes) rebuild(ctx context.Context) error {
	c.Reloads.Lock()
	defer c.Reloads.Unlock()
	err := c.Reloads.Replace(ctx, c.Registry.Enlist(c.Registry.Loaded()), nil)
	if err == nil {
		return nil
	}
	c.Registry.mu.Lock()
	defer c.Registry.mu.Unlock()
	if before := c.Registry.stuck; before == nil || before.Error() != err.Error() {
		c.Registry.Telemetry.Log.Error("fleet not changed, the old one stays", "error", err)
	}
	c.Registry.stuck = err
	return err
}

// Follow looks after what services there are, and what other gateways have registered,
// until closed is. It is one goroutine, so that changes of services and of the state never
// rebuild at the same time.
func (c *Changes) Follow(closed <-chan struct{}) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// A rebuild that is under way ends when the gateway closes, instead of being waited
	// for.
	go func() {
		select {
		case <-closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	// What is in the way, a file that is gone for a moment, may have nothing to do with what
	// has changed: nobody would say it again.
	var again <-chan time.Time
	rebuild := func() {
		if again = nil; c.rebuild(ctx) != nil { // it has logged why not
			again = time.After(retryAfter)
			return
		}
		c.record()
	}
	for {
		select {
		case <-closed:
			return
		case <-c.Registry.services.changed:
			rebuild()
			continue
		case <-again:
			rebuild()
			continue
		case <-tick.C:
		}
		// A reload may switch registration on or off, so that this is asked each time.
		if !c.Registry.Loaded().Fleet.API {
			continue
		}
		changed, err := c.Registry.read(ctx)
		c.Registry.noteAway(err)
		if changed {
			rebuild()
		}
	}
}

// record puts on record which services have become agents, and which are none any more.
// They are recorded when they are served and not when they are found: an agent that was
// never served has changed nothing. Nobody in particular has added them, so that who is
// kubernetes.
func (c *Changes) record() {
	current := c.Current.Acquire()
	if current == nil {
		return
	}
	defer current.Release()
	before, now := c.Registry.services.move(current)
	event := func(kind, id, source string) {
		attrs := map[string]string{"who": "kubernetes", "agent": id, "service": source}
		if err := c.Audit.Event(kind, attrs); err != nil {
			c.Registry.Telemetry.Log.Error("write audit event", "error", err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if before[id] == "" {
			event("agent.added", id, now[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if now[id] == "" {
			event("agent.removed", id, before[id])
		}
	}
}
