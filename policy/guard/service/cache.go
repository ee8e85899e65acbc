package service

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

// cache holds answers about texts, of which it keeps digests.
type cache struct {
	keep time.Duration // 0 for not at all

	mu    sync.Mutex
	known map[digest]remembered
	order []digest // a ring, as long as known was at its largest
	first int      // index of the oldest
}

// digest tells questions apart without keeping them.
type digest [sha256.Size]byte

// remembered is an answer.
type remembered struct {
	found []Found
	until time.Time
}

// mostRemembered is how many answers are remembered, the oldest going first.
const mostRemembered = 10_000

// digestOf is that of the texts and of what decides how they are asked about, with their lengths: two
// questions are never one.
func digestOf(q *Question) (d digest) {
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	add(string(q.Phase))
	for i, text := range q.Texts {
		part := 0
		if i < len(q.Parts) {
			part = q.Parts[i]
		}
		h.Write(binary.AppendVarint(nil, int64(part)))
		add(text)
	}
	h.Sum(d[:0])
	return d
}

// recall is the answer to a question that was put before, where it still holds.
func (c *cache) recall(key digest, now time.Time) ([]Found, bool) {
	if c.keep == 0 {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.known[key]
	if !ok || !now.Before(r.until) {
		return nil, false
	}
	return r.found, true
}

// remember keeps an answer to a question that was put at a time.
func (c *cache) remember(key digest, found []Found, at time.Time) {
	if c.keep == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[digest]remembered{}
	}
	_, again := c.known[key]
	c.known[key] = remembered{found, at.Add(c.keep)}
	switch {
	case again: // its place in the order is the old one: it goes a little early, at worst
	case len(c.order) < mostRemembered:
		c.order = append(c.order, key)
	default:
		delete(c.known, c.order[c.first])
		c.order[c.first] = key
		c.first = (c.first + 1) % mostRemembered
	}
}
