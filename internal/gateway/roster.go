package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// roster knows the agents that are in no file: those that were registered by the admin API
// of this gateway or of another one that shares its state, and services of Kubernetes. What
// it knows joins the agents of the files in enlist, the one place where the fleet is made.
type roster struct {
	values   state.Values
	cipher   state.Cipher
	services *discovered

	mu         sync.Mutex
	base       *config.Config        // as it was loaded
	registered map[string]registered // by id
	sum        [sha256.Size]byte     // of what was registered when it was read last
	faults     map[string]error      // what is left out, by id
	away       error                 // of the state, the last time
	stuck      error                 // why the fleet there is could not be built; nil where it is served
}

// registered is an agent that is kept in the state.
type registered struct {
	Doc jsontext.Value `json:"agent"`
	At  time.Time      `json:"at"`

	agent agents.Config
	err   error // it cannot be read
}

const (
	agentSpace   = "agents" // of the state
	agentPurpose = "agents" // what its values are sealed for
	rosterEvery  = 2 * time.Second
	rosterAgain  = 5 * time.Second // after a fleet could not be built
)

func (g *Gateway) openRoster(ctx context.Context, cfg *config.Config) {
	g.roster = &roster{values: g.store, cipher: sealing{g.keys, agentPurpose}, base: cfg}
	g.roster.services = g.openServices(ctx, cfg.Fleet.Kubernetes)
	if cfg.Fleet.API {
		_, err := g.roster.read(ctx)
		g.rosterAway(err)
	}
}

// place ties a sealed agent to its id.
func place(id string) []byte { return []byte(agentSpace + "\x00" + id) }

// read looks at what is registered, and reports whether that is something else than before.
func (r *roster) read(ctx context.Context) (changed bool, err error) {
	const page = 500
	found, hash, after := map[string]registered{}, sha256.New(), ""
	for {
		list, err := r.values.List(ctx, agentSpace, after, page)
		if err != nil {
			return false, fmt.Errorf("list registered agents: %w", err)
		}
		for i := range list {
			after = list[i].Key
			found[after] = r.unseal(after, list[i].Data)
			sum := sha256.Sum256(list[i].Data)
			fmt.Fprintf(hash, "%d:%s%x", len(after), after, sum)
		}
		if len(list) < page {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := [sha256.Size]byte(hash.Sum(nil))
	changed = sum != r.sum && (r.registered != nil || len(found) > 0)
	r.registered, r.sum = found, sum
	return changed, nil
}

func (r *roster) unseal(id string, sealed []byte) registered {
	var one registered
	text, err := r.cipher.Open(sealed, place(id))
	if err == nil {
		err = json.Unmarshal(text, &one)
	}
	if err == nil {
		one.agent, err = config.ReadAgent(one.Doc)
	}
	if err == nil && one.agent.ID != id {
		err = fmt.Errorf("it is registered as %q", one.agent.ID)
	}
	one.err = err
	return one
}

// enlisted are the agents beside those of files, with changes to what is registered; of a
// nil document the agent goes.
func (r *roster) enlisted(change map[string]*agents.Config) []config.Enlisted {
	agents := map[string]agents.Config{}
	if r.base.Fleet.API {
		for id, one := range r.registered {
			if one.err == nil {
				agents[id] = one.agent
			}
		}
		for id, a := range change {
			delete(agents, id)
			if a != nil {
				agents[id] = *a
			}
		}
	}
	list := make([]config.Enlisted, 0, len(agents))
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		list = append(list, config.Enlisted{Origin: "the admin API", Agent: agents[id]})
	}
	found, _ := r.services.agents()
	return append(list, found...)
}

// enlist is a configuration with the agents that are in no file. What is left out of it is
// remembered for /readyz, and logged when it is news. g.reloading is held, or nothing runs yet.
func (g *Gateway) enlist(base *config.Config) *config.Config {
	r := g.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = base
	whole, faults := base.Enlist(r.enlisted(nil))
	if base.Fleet.API {
		for id, one := range r.registered {
			if one.err != nil {
				faults[id] = fmt.Errorf("the admin API: it cannot be read: %w", one.err)
			}
		}
	}
	_, unfit := r.services.agents()
	for id, err := range unfit {
		faults[id] = errors.Join(faults[id], err)
	}
	for id, err := range faults {
		if before := r.faults[id]; before == nil || before.Error() != err.Error() {
			g.telemetry.Log.Error("agent left out", "agent", id, "error", err)
		}
	}
	r.faults = faults
	g.telemetry.Metrics.AgentsLeftOut(len(faults))
	return whole
}

// rebuild makes a snapshot of the files as they were loaded and of the agents there are now.
func (g *Gateway) rebuild(ctx context.Context) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	g.roster.mu.Lock()
	base := g.roster.base
	g.roster.mu.Unlock()
	err := g.replace(ctx, g.enlist(base), nil)
	if err == nil {
		return nil
	}
	g.roster.mu.Lock()
	defer g.roster.mu.Unlock()
	if before := g.roster.stuck; before == nil || before.Error() != err.Error() {
		g.telemetry.Log.Error("fleet not changed, the old one stays", "error", err)
	}
	g.roster.stuck = err
	return err
}

// followRoster looks after what other gateways have registered until the gateway closes.
func (g *Gateway) followRoster() {
	tick := time.NewTicker(rosterEvery)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-g.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	// What is in the way, a file that is gone for a moment, may have nothing to do with what
	// has changed: nobody would say it again.
	var again <-chan time.Time
	rebuild := func() {
		if again = nil; g.rebuild(ctx) != nil { // it has logged why not
			again = time.After(rosterAgain)
			return
		}
		g.roster.services.record(g)
	}
	for {
		select {
		case <-g.closed:
			return
		case <-g.roster.services.changed:
			rebuild()
			continue
		case <-again:
			rebuild()
			continue
		case <-tick.C:
		}
		g.roster.mu.Lock()
		on := g.roster.base.Fleet.API
		g.roster.mu.Unlock()
		if !on {
			continue
		}
		changed, err := g.roster.read(ctx)
		g.rosterAway(err)
		if changed {
			rebuild()
		}
	}
}

// served notes that the fleet there is has been built.
func (r *roster) served() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck = nil
}

// rosterAway says once that the state cannot be asked, and that it can again.
func (g *Gateway) rosterAway(err error) {
	r := g.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && r.away == nil:
		g.telemetry.Log.Warn("registered agents cannot be read; those of before stay", "error", err)
	case err == nil && r.away != nil:
		g.telemetry.Log.Info("registered agents can be read again")
	}
	r.away = err
}

// details has the lines of /readyz about agents that are left out.
func (r *roster) details() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	if r.away != nil {
		lines = append(lines, line("fleet", true, r.away.Error()))
	}
	if r.stuck != nil {
		lines = append(lines, line("fleet change", true, strings.ReplaceAll(r.stuck.Error(), "\n", "; ")))
	}
	if err := r.services.err(); err != nil {
		lines = append(lines, line("fleet.kubernetes", true, err.Error()))
	}
	for _, id := range slices.Sorted(maps.Keys(r.faults)) {
		lines = append(lines, line("agent "+id+" left out", true, strings.ReplaceAll(r.faults[id].Error(), "\n", "; ")))
	}
	return lines
}

// origin is where an agent that is served or left out comes from.
func (r *roster) origin(id string) (origin, source string, since time.Time) {
	for i := range r.base.Agents {
		if r.base.Agents[i].ID == id {
			return console.FromFile, "", time.Time{}
		}
	}
	if one, ok := r.registered[id]; ok {
		return console.FromAPI, "", one.At
	}
	return console.FromKubernetes, r.services.source(id), time.Time{}
}
