//go:build !minimal

package acme

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

var _ = feature.Register(feature.ACME)

const (
	// An attempt may take so long, an order and its checks included.
	attempt = 3 * time.Minute
	// What is in the state already is waited for so long when a configuration begins.
	firstLook = 5 * time.Second
	// Between two looks at a certificate: a twentieth of its lifetime within these.
	soonest, latest = time.Second, time.Hour
	// Before the second attempt, where the CA could not be reached and where it refused;
	// each further one takes twice as long to come, up to latest.
	away, rejected = 5 * time.Second, 2 * time.Minute
)

// Keeper has certificates for the names of a configuration. Its methods are safe for
// concurrent use.
type Keeper struct {
	o       Options
	storage *storage
	current atomic.Pointer[keeping]

	configuring sync.Mutex                 // held by Configure and Close, which wait for orders
	mu          sync.Mutex                 // guards what follows
	certs       map[string]tls.Certificate // by name, what is served
	failing     map[string]error           // by name, why the last attempt failed
}

// keeping is the work for one configuration.
type keeping struct {
	config  server.ACME
	roots   []byte // the content of config.CA
	magic   *certmagic.Config
	issuer  *certmagic.ACMEIssuer
	cache   *certmagic.Cache
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Open begins with a configuration: what the state has is provided before it returns, the
// rest is ordered in the background. A CA that cannot be reached is not an error.
func Open(cfg server.ACME, o Options) (*Keeper, error) {
	k := &Keeper{o: o, storage: newStorage(o.Values), certs: map[string]tls.Certificate{}, failing: map[string]error{}}
	return k, k.Configure(cfg)
}

// Configure goes over to another configuration, and keeps the certificates of names that
// stay. With an error nothing has changed.
func (k *Keeper) Configure(cfg server.ACME) error {
	k.configuring.Lock()
	defer k.configuring.Unlock()
	pool, roots, err := readRoots(cfg.CA)
	if err != nil {
		return err
	}
	old := k.current.Load()
	// A reload that changes something else must not give up an order that is under way.
	if old != nil && reflect.DeepEqual(old.config, cfg) && bytes.Equal(old.roots, roots) {
		return nil
	}
	now := &keeping{config: cfg, roots: roots}
	now.magic, now.issuer, now.cache = k.newMagic(cfg, pool)
	var ctx context.Context
	ctx, now.stop = context.WithCancel(context.Background())
	// The old work ends before the new begins: both would order the same names.
	if old != nil {
		old.end()
	}
	k.current.Store(now)
	k.look(ctx, now)
	for _, domain := range cfg.Domains {
		now.running.Go(func() { k.keep(ctx, now, domain) })
	}
	return nil
}

// end stops the work; an order that is under way is given up.
func (n *keeping) end() {
	n.stop()
	n.running.Wait()
	n.cache.Stop()
}

// Close ends the work. The certificates stay where they are.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.configuring.Lock()
	defer k.configuring.Unlock()
	if now := k.current.Load(); now != nil {
		now.end()
	}
}

// look provides what the state has, and forgets names that are not configured any more.
func (k *Keeper) look(ctx context.Context, n *keeping) {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	before := k.certs
	certs := map[string]tls.Certificate{}
	for _, domain := range n.config.Domains {
		found, err := n.magic.CacheManagedCertificate(ctx, domain)
		n.cache.RemoveManaged([]certmagic.SubjectIssuer{{Subject: domain}})
		switch {
		case err == nil:
			certs[domain] = found.Certificate
		case !errors.Is(err, fs.ErrNotExist):
			k.o.Log.Warn("certificate not loaded", "domain", domain, "err", err)
		}
		// The state may be away for a moment; what is served stays.
		if _, ok := certs[domain]; !ok && before[domain].Leaf != nil {
			certs[domain] = before[domain]
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.certs, k.failing = certs, map[string]error{}
	k.provide(n)
}

// provide hands on what there is. mu must be held.
func (k *Keeper) provide(n *keeping) {
	// In the order of the configuration: without SNI clients get the first.
	list := make([]tls.Certificate, 0, len(k.certs))
	for _, domain := range n.config.Domains {
		if cert, ok := k.certs[domain]; ok {
			list = append(list, cert)
		}
	}
	// internal/server refuses a certificate that a file of the configuration has as well.
	if err := k.o.Provide(list); err != nil {
		k.o.Log.Error("certificates from the CA are not usable, the old ones stay", "err", err)
	}
}

// keep has a certificate for a name, until ctx ends.
func (k *Keeper) keep(ctx context.Context, n *keeping, domain string) {
	for failures := 0; ; {
		cert, err := n.attend(ctx, domain)
		if ctx.Err() != nil {
			return
		}
		if cert != nil {
			k.take(n, domain, *cert)
		}
		var wait time.Duration
		if err == nil {
			failures = 0
			wait = min(latest, max(soonest, cert.Leaf.NotAfter.Sub(cert.Leaf.NotBefore)/20))
		} else {
			wait = pause(failures, err)
			failures++
		}
		// Replicas that were started together would meet at the lock each time.
		wait += rand.N(wait / 10) //nolint:gosec // replicas need not do everything at one moment
		k.report(domain, err, wait)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// attend has a name's certificate made or renewed, if it is time, and returns the one that
// there is now; without an error there is one.
func (n *keeping) attend(ctx context.Context, domain string) (*tls.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	err := n.magic.ManageSync(ctx, []string{domain})
	// certmagic would renew what is in its cache by itself as well.
	defer n.cache.RemoveManaged([]certmagic.SubjectIssuer{{Subject: domain}})
	for _, found := range n.cache.AllMatchingCertificates(domain) {
		if found.Leaf != nil {
			return &found.Certificate, err
		}
	}
	if err == nil {
		err = errors.New("there is no certificate although it was made")
	}
	return nil, err
}

// pause is how long to wait after so many failures before the one that was err.
func pause(failures int, err error) time.Duration {
	first := away
	if refused(err) {
		first = rejected
	}
	return min(latest, first<<min(failures, 10))
}

// take provides a certificate if it is a new one.
func (k *Keeper) take(n *keeping, domain string, cert tls.Certificate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.certs[domain].Leaf; old != nil && old.Equal(cert.Leaf) {
		return
	}
	k.certs[domain] = cert
	k.provide(n)
}

// report remembers how a name is doing, and says what has failed.
func (k *Keeper) report(domain string, err error, again time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		delete(k.failing, domain)
		return
	}
	k.failing[domain] = err
	text, attrs := "certificate not obtained", []any{"domain", domain, "err", err, "again_in", again.Round(time.Second).String()}
	if leaf := k.certs[domain].Leaf; leaf != nil {
		text, attrs = "certificate not renewed, the old one stays", append(attrs, "notAfter", leaf.NotAfter)
	}
	k.o.Log.Error(text, attrs...)
}

// ordered tells of an order.
func (k *Keeper) ordered(domain string, leaf *x509.Certificate, err error) {
	if err == nil {
		k.o.Log.Info("certificate issued", "domain", domain, "issuer", leaf.Issuer.CommonName, "notAfter", leaf.NotAfter)
	}
	if k.o.Ordered != nil {
		k.o.Ordered(domain, leaf, err)
	}
}
