package credentials

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// maxTokens is how many tokens one credential keeps, the least recently used going first.
const maxTokens = 10_000

// How long a failure is the answer for its key: an outage must not become a flood, and
// who was turned down will be again.
const (
	pauseFailed   = time.Second
	pauseDeclined = 10 * time.Second
)

// A token in its last seconds could expire on the way to the agent. It is used only when
// there is no other.
const lastMoments = 5 * time.Second

// cacheKey is a digest of everything that a token depends on.
type cacheKey [sha256.Size]byte

// parts is what a cacheKey is made of: each with its length, so that no two lists of
// parts are the same bytes.
type parts []byte

func (p parts) add(texts ...string) parts {
	for _, t := range texts {
		p = append(binary.AppendUvarint(p, uint64(len(t))), t...)
	}
	return p
}

// list adds any number of parts as one.
func (p parts) list(texts []string) parts {
	return parts(binary.AppendUvarint(p, uint64(len(texts)))).add(texts...)
}

// number adds one part that is a number.
func (p parts) number(n int64) parts { return binary.AppendVarint(p, n) }

func (p parts) key() cacheKey { return sha256.Sum256(p) }

// grant is a token as an authorization server gave it.
type grant struct {
	token    string
	kind     string        // issued_token_type; "" when it does not say
	lifetime time.Duration // from when it was asked for
}

// cache keeps the tokens of one credential. However many calls need the same one, it is
// asked for once, and a caller who leaves does not take the others' answer along. A
// token is replaced in the background before it expires; as long as that fails, it is
// used until it does.
type cache struct {
	life   context.Context // of the fetches
	prefix string          // stands before every token that is given out
	now    func() time.Time
	most   int

	mu      sync.Mutex
	entries map[cacheKey]*entry
	recent  list.List // of *entry, the least recently used last
}

// entry is what is known for one key.
type entry struct {
	key    cacheKey
	place  *list.Element
	token  string
	renew  time.Time // from when on another one is fetched
	late   time.Time // from when on that is waited for
	end    time.Time
	err    error // of the last fetch
	pause  time.Time
	flight *flight // under way, or nil
}

// flight is one fetch. Its fields are set before done is closed and read after.
type flight struct {
	done  chan struct{}
	token string
	err   error
}

// newCache has no tokens. life ends fetches that are under way.
func newCache(life context.Context, prefix string) *cache {
	return &cache{life: life, prefix: prefix, now: time.Now, most: maxTokens, entries: map[cacheKey]*entry{}}
}

// get returns the token of a key, behind the prefix, which ask fetches where there is none
// that is good for some seconds more, or one as good as the server makes them. ask must
// depend on nothing but what the key is made of. get waits no longer than ctx.
//
// A caller whose token was refused is not given the one of before, although it is still good: who
// was turned down may have lost the permission that it stands for.
func (c *cache) get(ctx context.Context, key cacheKey, ask func(context.Context) (grant, error)) (string, error) {
	c.mu.Lock()
	e, now := c.entry(key), c.now()
	if e.flight == nil && !now.Before(e.renew) && !now.Before(e.pause) {
		e.flight = &flight{done: make(chan struct{})}
		go c.run(e, e.flight, ask)
	}
	token, usable, f, err := e.token, now.Before(e.end), e.flight, e.err
	wait := f != nil && !now.Before(e.late)
	c.mu.Unlock()
	if wait {
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if f.err == nil {
			return f.token, nil
		}
		// Who was turned down is not shown with what was good before.
		err, usable = f.err, usable && !errors.Is(f.err, ErrDeclined)
	}
	if usable {
		return token, nil
	}
	return "", err
}

// entry finds or makes the one of a key, and makes room for it.
func (c *cache) entry(key cacheKey) *entry {
	if e, ok := c.entries[key]; ok {
		c.recent.MoveToFront(e.place)
		return e
	}
	e := &entry{key: key}
	c.entries[key], e.place = e, c.recent.PushFront(e)
	for c.recent.Len() > c.most {
		if last, ok := c.recent.Remove(c.recent.Back()).(*entry); ok {
			delete(c.entries, last.key)
		}
	}
	return e
}

// run fetches a token for e, whoever still waits for it.
//
// It has a context of its own, so that a caller who leaves does not end the fetch for those who
// wait.
func (c *cache) run(e *entry, f *flight, ask func(context.Context) (grant, error)) {
	ctx, cancel := context.WithTimeout(c.life, tokenTimeout)
	defer cancel()
	asked := c.now()
	g, err := ask(ctx)
	if err == nil {
		g.token = c.prefix + g.token
	}
	c.mu.Lock()
	e.keep(asked, c.now(), g, err)
	c.mu.Unlock()
	f.token, f.err = g.token, err
	close(f.done)
}

// keep takes over the outcome of a fetch.
func (e *entry) keep(asked, now time.Time, g grant, err error) {
	e.flight, e.err, e.pause = nil, err, time.Time{}
	var declined *refusal
	switch {
	case err == nil:
		// Four fifths of the lifetime, or 30 s before its end; for short ones never
		// before half of it, or each use would fetch another.
		l := g.lifetime
		e.token, e.end = g.token, asked.Add(l)
		renew := max(l/2, min(l*4/5, l-30*time.Second))
		e.late = e.end.Add(-lastMoments)
		e.renew = asked.Add(min(renew, l-lastMoments))
	case errors.As(err, &declined) && declined.final():
		e.pause = now.Add(pauseDeclined)
		if errors.Is(err, ErrDeclined) {
			e.token, e.renew, e.late, e.end = "", time.Time{}, time.Time{}, time.Time{}
		}
	default:
		e.pause = now.Add(pauseFailed)
	}
}
