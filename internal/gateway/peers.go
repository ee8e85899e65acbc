package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

const (
	peerSpace   = "gateways" // of the state
	peerPurpose = "gateways" // what its values are sealed for
	peerEvery   = 5 * time.Second
	peerLife    = 4 * peerEvery // after which one that says nothing is gone
	peerGoodbye = time.Second   // that the end of a gateway waits for the state at most
)

// peers are the gateways that share a state. Each says there how it stands, for whoever
// looks after all of them; none of them acts on what another one says.
type peers struct {
	*Gateway

	version string
	self    string // of this process
	cipher  sealing
	cancel  context.CancelFunc
	done    chan struct{} // nil where nothing is said to anybody
}

func (g *Gateway) openPeers(version string) {
	g.peers = &peers{Gateway: g, version: version, self: rand.Text()[:12], cipher: sealing{g.keys, peerPurpose}}
}

// start says how this gateway stands until close, where others may hear it.
func (p *peers) start() {
	if p.revoked == nil { // as with keys: nobody else is there
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

// close takes leave, so that nobody takes this gateway for one that has died.
func (p *peers) close() {
	if p == nil || p.done == nil {
		return
	}
	p.cancel()
	<-p.done
	ctx, cancel := context.WithTimeout(context.Background(), peerGoodbye)
	defer cancel()
	_ = p.store.Delete(ctx, peerSpace, p.self) // or it is gone after peerLife
}

func (p *peers) say(ctx context.Context) error {
	doc, err := json.Marshal(p.own())
	if err != nil {
		return err
	}
	return p.store.Put(ctx, peerSpace, p.self, p.cipher.Seal(doc, peerPlace(p.self)), peerLife)
}

// peerPlace ties what a gateway says to itself.
func peerPlace(instance string) []byte { return []byte(peerSpace + "\x00" + instance) }

// own is how this gateway stands.
func (p *peers) own() console.Peer {
	b := built()
	one := console.Peer{
		Instance: p.self, Host: b.Host, Version: p.version, Revision: b.Revision, Started: p.began.UTC(), Seen: time.Now().UTC(), Why: p.status.unready(),
	}
	one.Ready = one.Why == ""
	for _, u := range p.condition().Limits {
		switch u.Limit {
		case "requests":
			one.Calls = int64(u.Used)
		case "streams":
			one.Streams = int64(u.Used)
		}
	}
	if s := p.current.Load(); s != nil {
		one.ID, one.Config = s.config.Server.ID, "sha256:"+hex.EncodeToString(s.config.Common[:])
	}
	return one
}

// Cluster implements console.Running.
func (r running) Cluster(ctx context.Context) (console.Cluster, error) {
	p := r.peers
	self := p.own()
	self.Self = true
	all := console.Cluster{Shared: p.revoked != nil, Gateways: []console.Peer{self}}
	if !all.Shared {
		return all, nil
	}
	const most = 1000
	list, err := p.store.List(ctx, peerSpace, "", most)
	if err != nil {
		return all, fmt.Errorf("list gateways: %w", err)
	}
	for i := range list {
		if list[i].Key == p.self {
			continue
		}
		one := console.Peer{Sealed: true}
		if doc, err := p.cipher.Open(list[i].Data, peerPlace(list[i].Key)); err == nil && json.Unmarshal(doc, &one) == nil {
			one.Sealed = false
		}
		one.Instance = list[i].Key
		all.Gateways = append(all.Gateways, one)
	}
	slices.SortFunc(all.Gateways, func(a, b console.Peer) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Instance, b.Instance))
	})
	return all, nil
}
