// Package fleet knows the agents that are in no configuration file: those that were registered
// by the admin API of this gateway or of another one that shares its state, and services of
// Kubernetes. It has the gateway reload when there are others, and answers what the console
// asks of all agents.
//
// The fleet is the agents of the file, those in the state, and those of services. Where two
// have one id, the file wins, and the other one is left out with a fault that /readyz
// shows. Each change goes through a reload: a configuration with all agents is made
// (Enlist), a snapshot is built of it, and the snapshot is put in force. An agent that was
// registered therefore works exactly as one of the file does.
//
//	| who | does what |
//	| --- | --- |
//	| Registry | knows the agents, and makes the configuration of all of them |
//	| Changes | follows services and other gateways, and rebuilds |
//	| Agents | answers the console, registers and removes |
//	| services | watches Kubernetes, and makes agents of annotated services |
//
// Two locks are taken, always in this order: that of Reloads, for a change as a whole,
// which can take seconds, and Registry.mu, for the fields, which is held for microseconds.
// A gateway sees what another one has registered within followEvery (2 s): it compares a
// hash of all that is in the state with the one of before.
package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Options are what the registry depends on. Telemetry has the log, and the gauge of agents
// that are left out.
type Options struct {
	Values    state.Values
	Cipher    state.Cipher // seals what is registered
	Telemetry *telemetry.Telemetry
}

// Registry has the agents that are in no file. What it knows joins the agents of the files
// in Enlist, the one place where the fleet is made. base is nil until Open.
type Registry struct {
	Options

	services *services // nil until Open

	mu         sync.Mutex
	base       *config.Config        // as it was loaded
	registered map[string]registered // by id
	sum        [sha256.Size]byte     // of what was registered when it was read last
	faults     map[string]error      // what is left out, by id
	away       error                 // of the state, the last time
	stuck      error                 // why the fleet there is could not be built; nil where it is served
}

// registered is an agent that is kept in the state. Doc is the JSON that was registered and
// not what was made of it, so that a later version of the gateway reads it with its own
// defaults.
type registered struct {
	Doc jsontext.Value `json:"agent"`
	At  time.Time      `json:"at"`
	By  string         `json:"by,omitzero"` // who registered it; "" of before that was kept

	agent   agents.Config
	err     error  // it cannot be read
	edition string // digest of what is sealed: sealing is random, so that it says nothing of secrets
}

// Two seconds are short enough for an operator who waits for an agent on another gateway,
// and a list of the state every two seconds is little work for it.
const (
	space       = "agents" // of the state
	followEvery = 2 * time.Second
	retryAfter  = 5 * time.Second // when a fleet could not be built
)

// New makes a registry that knows of nothing.
func New(o Options) *Registry { return &Registry{Options: o} }

// Open finds out what there is beside the agents of cfg, and begins to follow services.
// Neither source has to be reachable: the gateway starts with the agents that it knows, and
// the others join when they are found.
func (r *Registry) Open(ctx context.Context, cfg *config.Config) {
	r.base = cfg
	r.services = openServices(ctx, cfg.Fleet.Kubernetes, r.Telemetry.Log)
	if cfg.Fleet.API {
		_, err := r.read(ctx)
		r.noteAway(err)
	}
}

// Close ends what Open began. It waits until the watches have ended.
func (r *Registry) Close() {
	if r.services != nil {
		r.services.stop()
		r.services.done.Wait()
	}
}

// place ties a sealed agent to its id. It is authenticated with what is sealed: an entry
// that somebody moves to another id in the state cannot be opened there.
func place(id string) []byte { return []byte(space + "\x00" + id) }

// read looks at what is registered, and reports whether that is something else than before.
// Entries are read in pages, which is not one view of the state: an agent that is
// registered meanwhile may be missed, and is found the next time. The hash is over ids and
// sealed bytes, so that nothing has to be compared member by member. The first read of an
// empty state is no change.
func (r *Registry) read(ctx context.Context) (changed bool, err error) {
	const page = 500
	found, hash, after := map[string]registered{}, sha256.New(), ""
	for {
		list, err := r.Values.List(ctx, space, after, page)
		if err != nil {
			return false, fmt.Errorf("list registered agents: %w", err)
		}
		for i := range list {
			after = list[i].Key
			found[after] = r.unseal(after, list[i].Data)
			sum := sha256.Sum256(list[i].Data)
			one := found[after]
			one.edition = hex.EncodeToString(sum[:16])
			found[after] = one
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

// unseal reads one entry. What cannot be read is an entry with an error and not left away:
// it was registered, and that it is not served has to be shown. Its id has to be that of
// its key.
func (r *Registry) unseal(id string, sealed []byte) registered {
	var one registered
	text, err := r.Cipher.Open(sealed, place(id))
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
// nil document the agent goes. The order is fixed (by id, then as services were found),
// since a configuration that differs in order alone would be rebuilt for nothing. r.mu is
// held.
func (r *Registry) enlisted(change map[string]*agents.Config) []config.Enlisted {
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

// Enlist is a configuration with the agents that are in no file. What is left out of it is
// remembered for /readyz, and logged when it is news. The lock of reloads is held, or nothing runs yet.
func (r *Registry) Enlist(base *config.Config) *config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = base
	// The configuration says which agents do not fit into it, such as a second one of an
	// id.
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
	// A fault is logged when it is new or has changed, not with each rebuild.
	for id, err := range faults {
		if before := r.faults[id]; before == nil || before.Error() != err.Error() {
			r.Telemetry.Log.Error("agent left out", "agent", id, "error", err)
		}
	}
	r.faults = faults
	r.Telemetry.Metrics.Agents.LeftOut(len(faults))
	return whole
}

// Served notes that the fleet there is has been built. Reloads call it, whoever asked for
// the rebuild.
func (r *Registry) Served() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck = nil
}

// noteAway says once that the state cannot be asked, and that it can again. The agents that
// are known stay: a state that is away for a minute must not take agents out of service.
func (r *Registry) noteAway(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && r.away == nil:
		r.Telemetry.Log.Warn("registered agents cannot be read; those of before stay", "error", err)
	case err == nil && r.away != nil:
		r.Telemetry.Log.Info("registered agents can be read again")
	}
	r.away = err
}

// Details has the lines of /readyz about agents that are left out. A line is "agent billing
// left out: failed: …". Errors of several lines are put into one.
func (r *Registry) Details() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	if r.away != nil {
		lines = append(lines, status.Line("fleet", true, r.away.Error()))
	}
	if r.stuck != nil {
		lines = append(lines, status.Line("fleet change", true, strings.ReplaceAll(r.stuck.Error(), "\n", "; ")))
	}
	if err := r.services.err(); err != nil {
		lines = append(lines, status.Line("fleet.kubernetes", true, err.Error()))
	}
	for _, id := range slices.Sorted(maps.Keys(r.faults)) {
		lines = append(lines, status.Line("agent "+id+" left out", true, strings.ReplaceAll(r.faults[id].Error(), "\n", "; ")))
	}
	return lines
}

// origin is where an agent that is served or left out comes from. For one that was
// registered, since is when. r.mu is held.
func (r *Registry) origin(id string) (origin, source string, since time.Time) {
	for i := range r.base.Agents {
		if r.base.Agents[i].ID == id {
			return fleet.FromFile, "", time.Time{}
		}
	}
	if one, ok := r.registered[id]; ok {
		return fleet.FromAPI, "", one.At
	}
	return fleet.FromKubernetes, r.services.source(id), time.Time{}
}

// edition tells what is registered under an id from what was before, and from what comes after it.
func (r *Registry) edition(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.registered[id].edition
}

// Loaded is the configuration as it was loaded, without the agents that are in no file. It
// is what a rebuild begins with.
func (r *Registry) Loaded() *config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// with is the configuration with one agent changed. It changes nothing yet. agent is nil
// where the agent goes; replace permits that there is one of this id already. The errors
// are those of the console: registration is off, the agent is one of the file, it is taken,
// there are too many, or it is invalid.
func (r *Registry) with(id string, agent *agents.Config, replace bool) (*config.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.registered[id]
	origin, _, _ := r.origin(id)
	switch {
	case !r.base.Fleet.API:
		return nil, fleet.ErrAgentsOff
	case agent != nil && origin == fleet.FromFile:
		return nil, fleet.ErrAgentInFile
	case agent != nil && known && !replace:
		return nil, fleet.ErrAgentTaken
	case agent != nil && !known && len(r.registered) >= r.base.Fleet.Limit:
		return nil, fleet.ErrAgentsFull
	}
	whole, faults := r.base.Enlist(r.enlisted(map[string]*agents.Config{id: agent}))
	if err := faults[id]; agent != nil && err != nil {
		return nil, fleet.AgentInvalid{err.Error()}
	}
	return whole, nil
}
