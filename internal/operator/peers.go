package operator

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/replicas"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// A gateway writes a value into the state every peerEvery, with a time to live of peerLife:
// one that has died is gone from the list after 20 seconds without anybody removing it, and
// three lost writes in a row are survived.
const (
	peerSpace   = "gateways" // of the state
	PeerPurpose = "gateways" // what its values are sealed for
	peerEvery   = 5 * time.Second
	peerLife    = 4 * peerEvery // after which one that says nothing is gone
	peerGoodbye = time.Second   // that the end of a gateway waits for the state at most
)

// Peers are the gateways that share a state. Each says there how it stands, for whoever
// looks after all of them; none of them acts on what another one says.
type Peers struct {
	Shared bool // others may be there, and hear it
	// Where each writes its own value and reads those of others.
	Values state.Values
	// When this process began to serve.
	Began   time.Time
	Current *snapshot.Current
	// Whether this gateway takes calls, and why not.
	Readiness Readiness
	// How many calls and streams are in progress.
	Condition func() metrics.Condition

	// Of this gateway: replicas of two versions are shown as such while an update rolls
	// out.
	Version string
	self    string // of this process
	// Seals what a gateway says. Whoever can write to the state and has no key can make no
	// replica up; the value is tied to its key as well (peerPlace), so that one gateway's
	// value cannot be copied to another's place.
	Cipher state.Cipher
	cancel context.CancelFunc
	done   chan struct{} // nil where nothing is said to anybody
}

// Start says how this gateway stands until close, where others may hear it. It returns at
// once. Where the state is in memory or in a file of this machine alone there is nobody to
// hear it, and nothing is written.
func (p *Peers) Start() {
	if !p.Shared {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.done = cancel, make(chan struct{})
	go func() {
		defer close(p.done)
		tick := time.NewTicker(peerEvery)
		defer tick.Stop()
		for {
			_ = p.say(ctx) // what cannot be said is said anew, and that the state is away others say
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

// Close takes leave, so that nobody takes this gateway for one that has died. It waits for
// the writer first: a value written after the deletion would stand for another 20 seconds.
// A nil *Peers has nothing to close, as after an Open that failed early.
func (p *Peers) Close() {
	if p == nil || p.done == nil {
		return
	}
	p.cancel()
	<-p.done
	// The deletion has one second. A state that is away must not hold up the end of a
	// process that its supervisor would kill otherwise.
	ctx, cancel := context.WithTimeout(context.Background(), peerGoodbye)
	defer cancel()
	_ = p.Values.Delete(ctx, peerSpace, p.self) // or it is gone after peerLife
}

// say writes how this gateway stands, to be there for peerLife.
func (p *Peers) say(ctx context.Context) error {
	doc, err := json.Marshal(p.own())
	if err != nil {
		return err
	}
	return p.Values.Put(ctx, peerSpace, p.self, p.Cipher.Seal(doc, peerPlace(p.self)), peerLife)
}

// peerPlace ties what a gateway says to itself.
func peerPlace(instance string) []byte { return []byte(peerSpace + "\x00" + instance) }

// own is how this gateway stands.
func (p *Peers) own() replicas.Peer {
	b := built()
	one := replicas.Peer{
		Instance: p.self, Host: b.Host, Version: p.Version, Revision: b.Revision, Started: p.Began.UTC(), Seen: time.Now().UTC(), Why: p.Readiness.Unready(),
	}
	// Ready is what has no reason against it: the two can never contradict each other.
	one.Ready = one.Why == ""
	for _, u := range p.Condition().Limits {
		switch u.Limit {
		case "requests":
			one.Calls = int64(u.Used)
		case "streams":
			one.Streams = int64(u.Used)
		}
	}
	if s := p.Current.Load(); s != nil {
		one.ID, one.Config = s.Config.Server.ID, "sha256:"+hex.EncodeToString(s.Config.Common[:])
	}
	return one
}

// Cluster are the gateways that share the state. This gateway is in the list in any case,
// from its own knowledge and not from the state, so that the page shows it while the state
// is away. One whose value cannot be opened is listed as sealed: it has other keys, which
// is worth knowing by itself.
func (p *Peers) Cluster(ctx context.Context) (replicas.Cluster, error) {
	self := p.own()
	self.Self = true
	all := replicas.Cluster{Shared: p.Shared, Gateways: []replicas.Peer{self}}
	if !all.Shared {
		return all, nil
	}
	// More replicas than anybody runs; the page shows them all at once.
	const most = 1000
	list, err := p.Values.List(ctx, peerSpace, "", most)
	if err != nil {
		return all, fmt.Errorf("list gateways: %w", err)
	}
	for i := range list {
		// What the state has of this gateway is up to five seconds old.
		if list[i].Key == p.self {
			continue
		}
		one := replicas.Peer{Sealed: true}
		if doc, err := p.Cipher.Open(list[i].Data, peerPlace(list[i].Key)); err == nil && json.Unmarshal(doc, &one) == nil {
			one.Sealed = false
		}
		one.Instance = list[i].Key
		all.Gateways = append(all.Gateways, one)
	}
	slices.SortFunc(all.Gateways, func(a, b replicas.Peer) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Instance, b.Instance))
	})
	return all, nil
}

// NewPeers gives this process a name among them. The name is random and lives as long as
// the process: two replicas may have the same host name, as in containers, and one that
// restarts is another one.
func NewPeers(p Peers) *Peers {
	p.self = rand.Text()[:12]
	return &p
}
