package signature

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Times of a key set. Routine fetches and those for an unknown kid each keep the interval,
// so that a key published right after a routine fetch is found, and no number of made-up
// kids causes more than two fetches in it.
const (
	fetchTimeout = 5 * time.Second
	minInterval  = 30 * time.Second
	firstPause   = time.Second    // after the first failure, doubled up to minInterval
	staleFor     = 24 * time.Hour // while the set cannot be fetched
	idleFor      = time.Hour      // after which a set that a signature named is forgotten
	maxRemotes   = 32             // of those
)

// remote is a key set behind a URL, fetched when it is needed and kept.
// States: never fetched (keys is nil), fresh, stale (older than its lifetime, tried again, used for
// up to staleFor), and away.
type remote struct {
	url    string
	client *egress.Client
	now    func() time.Time
	turn   chan struct{} // holds one token: one fetch at a time, others wait for it
	report func(source string, k jws.Skipped)

	// With the token only:
	keys     []*publicKey
	skipped  []jws.Skipped
	asked    time.Time // start of the fetch that brought keys
	fresh    time.Time // until when they need no other
	routine  time.Time // start of the last fetch by age
	miss     time.Time // start of the last fetch for an unknown kid
	failures int       // since the last success
	err      error     // of the last fetch
}

// newRemote is the key set at an address. Whoever holds the turn fetches it, the others wait for what
// comes of that.
func newRemote(address string, client *egress.Client, o Options) *remote {
	r := &remote{url: address, client: client, now: o.Now, report: o.Skipped, turn: make(chan struct{}, 1)}
	// A channel and not a mutex, since who waits for the fetch of another may give up with its
	// context.
	r.turn <- struct{}{}
	return r
}

// keysFor returns the set, fetched anew where it is too old or has no such kid. An error
// beside keys says that the kid may be in a newer set, which could not be fetched.
// start is when the verification began: a set that was fetched since is new enough to say that a
// kid is unknown.
func (r *remote) keysFor(ctx context.Context, kid string, start time.Time) ([]*publicKey, error) {
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, r.host(), context.Cause(ctx))
	}
	now := r.now()
	// A clock that was set back makes keys look as if they came from the future; they are fetched
	// again.
	if r.keys == nil || !between(now, r.asked, r.fresh) {
		if !elapsed(r.routine, now, r.pause()) && r.keys == nil {
			return nil, r.away()
		}
		if elapsed(r.routine, now, r.pause()) {
			r.routine = now
			r.fetch(ctx)
		}
	}
	// A key that was withdrawn because it was stolen must not count for ever while the server is
	// kept away.
	if now.After(r.fresh.Add(staleFor)) {
		return nil, r.away()
	}
	if kid == "" || r.has(kid) || !r.asked.Before(start) {
		return r.keys, nil
	}
	if !elapsed(r.miss, now, minInterval) {
		return r.keys, fmt.Errorf("%w: %s has no kid %.40q, and was asked only now", ErrUnavailable, r.host(), kid)
	}
	r.miss = now
	if r.fetch(ctx); r.failures > 0 {
		return r.keys, r.away()
	}
	return r.keys, nil
}

func between(t, from, to time.Time) bool { return !t.Before(from) && t.Before(to) }

// elapsed reports whether an interval is over; one that began in the future is, since
// the clock was set back.
func elapsed(since, now time.Time, interval time.Duration) bool {
	d := now.Sub(since)
	return d < 0 || d >= interval
}

// pause is the least time between fetches by age. It doubles with failures up to the usual one, so
// that a server that was away for a moment is asked soon and one that stays away is not pestered.
func (r *remote) pause() time.Duration {
	if r.failures == 0 || r.failures > 5 {
		return minInterval
	}
	return min(firstPause<<(r.failures-1), minInterval)
}

// has reports whether a key of that name is there, without which it may be worth to ask again: the
// signer may have begun to use a new one.
func (r *remote) has(kid string) bool {
	for _, k := range r.keys {
		if k.named(kid) {
			return true
		}
	}
	return false
}

// away is the error of a set that cannot be had, with why the last attempt failed, however long ago
// that was.
func (r *remote) away() error {
	if r.err == nil {
		return fmt.Errorf("%w: %s", ErrUnavailable, r.host())
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, r.host(), r.err)
}

// host is what errors say of the set: paths and queries may be secrets.
func (r *remote) host() string {
	u, err := url.Parse(r.url)
	if err != nil {
		return "key set"
	}
	return u.Host
}

// fetch replaces the keys, or notes why it could not.
// A failure keeps the keys there are: an agent must not lose its card because a key server
// restarts.
func (r *remote) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	asked := r.now()
	set, life, err := r.load(ctx)
	if r.err = err; err != nil {
		r.failures++
		return
	}
	for _, k := range jws.Newly(r.skipped, set.Skipped) {
		r.report(r.host(), k)
	}
	r.keys, r.skipped = keysOf(set.Keys, r.url), set.Skipped
	r.asked, r.fresh, r.failures = asked, asked.Add(life), 0
}

// load fetches the set. How long it may be kept is what the server says, within bounds: a set that
// may be kept for a year would keep a stolen key for as long.
// A redirect is an answer that is not 200, and so an error: it could lead to a host that is not
// allowed.
func (r *remote) load(ctx context.Context) (*jws.Set, time.Duration, error) {
	answer, err := r.client.Send(ctx, http.MethodGet, r.url, http.Header{"Accept": {"application/jwk-set+json, application/json"}}, nil)
	switch {
	case err != nil:
		return nil, 0, err
	case answer.Status != http.StatusOK:
		return nil, 0, fmt.Errorf("the server answered %d", answer.Status)
	case len(answer.Body) >= maxDocument:
		return nil, 0, fmt.Errorf("the key set has %d bytes or more", maxDocument)
	}
	set, err := profile.Set(answer.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("read key set: %w", err)
	}
	return set, jws.Lifetime(answer.Header), nil
}

// operatorClient reaches what the operator wrote: private addresses and http as well.
func operatorClient(t Trust, way *tunnel.Proxy) (*egress.Client, error) {
	return egress.New(egress.Options{Proxy: way, AllowPrivate: true, Plaintext: true, CA: t.CA, Timeout: fetchTimeout})
}

// remotes are the key sets that signatures name.
type remotes struct {
	hosts  *egress.Client // allows the listed hosts; nil for none
	urls   *egress.Client // for listed URLs
	places []string       // listed URLs, or beginnings that end in "/"
	o      Options

	mu   sync.Mutex
	sets map[string]*remote
	used map[string]time.Time
}

// newRemotes is the key sets that signatures may name. A place with a path is one that the operator has
// chosen, and a host is one on which the signer chooses the path: of these, only listed hosts are asked.
func newRemotes(t Trust, o Options) (*remotes, error) {
	r := &remotes{o: o, sets: map[string]*remote{}, used: map[string]time.Time{}}
	options := egress.Options{Proxy: o.Egress, AllowPrivate: t.AllowPrivateNetworks, CA: t.CA, Timeout: fetchTimeout}
	var err error
	if r.urls, err = egress.New(options); err != nil {
		return nil, err
	}
	for _, place := range t.JKU {
		if strings.Contains(place, "/") {
			r.places = append(r.places, place)
		} else {
			options.AllowHosts = append(options.AllowHosts, place)
		}
	}
	if len(options.AllowHosts) > 0 {
		r.hosts, err = egress.New(options)
	}
	return r, err
}

// find is the set that a signature names, if it is listed.
// The bound keeps a signer who varies the path below a listed place from filling the memory.
func (r *remotes) find(jku string) (*remote, error) {
	client, err := r.clientFor(jku)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errJKU, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.o.Now()
	set, ok := r.sets[jku]
	if !ok {
		if len(r.sets) >= maxRemotes {
			r.forget(now)
		}
		if len(r.sets) >= maxRemotes {
			return nil, fmt.Errorf("%w: more than %d are in use", errJKU, maxRemotes)
		}
		set = newRemote(jku, client, r.o)
		r.sets[jku] = set
	}
	r.used[jku] = now
	return set, nil
}

// clientFor says whether a URL is listed, and by what it is called. The address in a signature is the
// signer's word: followed without a list, it would have the gateway call whatever an agent names,
// and take the keys that it finds there for proof.
func (r *remotes) clientFor(jku string) (*egress.Client, error) {
	u, err := r.urls.Check(jku)
	if err != nil {
		return nil, err
	}
	for _, place := range r.places {
		// A path with dots or escapes could lead out of the place that is listed.
		below := strings.HasSuffix(place, "/") && strings.HasPrefix(jku, place) &&
			!strings.Contains(u.Path, "..") && !strings.Contains(u.EscapedPath(), "%")
		if jku == place || below {
			return r.urls, nil
		}
	}
	if r.hosts == nil {
		return nil, fmt.Errorf("%s is not listed", u.Host)
	}
	_, err = r.hosts.Check(jku)
	return r.hosts, err
}

// forget drops what nobody has asked for in a while. It is called only when there is no room.
func (r *remotes) forget(now time.Time) {
	for jku, used := range r.used {
		if elapsed(used, now, idleFor) {
			delete(r.used, jku)
			delete(r.sets, jku)
		}
	}
}

// Close ends the connections that nobody uses.
func (v *Verifier) Close() {
	if v.set != nil {
		v.set.client.Close()
	}
	if v.named != nil {
		v.named.urls.Close()
		if v.named.hosts != nil {
			v.named.hosts.Close()
		}
	}
}
