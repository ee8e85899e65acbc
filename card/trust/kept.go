package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// keptSpace has, by agent, the card in force as the agent sent it.
const keptSpace = "card-kept"

// Kept is the card in force as the agent sent it, signatures included: a gateway that does
// not reach the card's URL judges it as it would the agent's answer.
// It is not Standing, which has only what may be used of the card: a signature has to be verified
// again over the card as it was sent, by the keys that count then.
type Kept struct {
	From     string    `json:"from"`     // the URL's origin
	Standing string    `json:"standing"` // digest of the card that stood when this one was in force
	At       time.Time `json:"at"`       // since when it is in force
	Card     []byte    `json:"card"`
}

// Kept is the card in force as the agent sent it; false for none.
func (b *Book) Kept(ctx context.Context, agent string) (Kept, bool, error) {
	var k Kept
	ok, err := b.get(ctx, keptSpace, agent, &k)
	return k, ok, err
}

// keep remembers the card that an agent is called by, for a start while the agent is away. It has no
// end: an agent may be away for long.
func (b *Book) keep(ctx context.Context, agent string, k Kept) error {
	return b.put(ctx, keptSpace, agent, k, 0)
}

// origin names the URL of a card without saying it, as URLs of cards may have secrets in them. It is
// only compared: a card that was kept of another URL is another agent's word.
func origin(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// same reports whether there is nothing new to be kept, which spares the state a write at each fetch.
func (k *Kept) same(other *Kept) bool {
	return k.From == other.From && k.Standing == other.Standing && bytes.Equal(k.Card, other.Card)
}

// noted is what a judge last knew to be kept, without the card itself, which may be a megabyte for
// each agent.
type noted struct {
	card     [sha256.Size]byte
	standing string
}

// keep remembers a card in force for who starts while its URL is away; standing is what stands
// now. That it could not be written down changes nothing of the card, and is tried again.
// The card is compared with what this process wrote last, before the state is asked: the usual
// fetch costs no question.
func (j *Judge) keep(ctx context.Context, c *candidate, standing string, at time.Time) {
	now := noted{sha256.Sum256(c.raw), standing}
	j.mu.Lock()
	known := j.noted == now
	j.mu.Unlock()
	if known {
		return
	}
	k := Kept{From: origin(j.From), Standing: standing, At: at, Card: c.raw}
	before, ok, err := j.Book.Kept(ctx, j.Agent)
	if err != nil || !ok || !k.same(&before) { // one that does not open is written anew
		err = j.Book.keep(ctx, j.Agent, k)
	}
	if err != nil {
		j.Log.Warn("agent card not kept for a restart", "error", err)
		return
	}
	j.mu.Lock()
	j.noted = now
	j.mu.Unlock()
}

// Recall rules on the card that was in force when the agent was last reached, by what counts
// today: keys, digests, and what people have decided since. Its InForce is nil where there is
// none, where it was fetched from another URL, and where it may not come into force by itself.
// Then nothing else does either: what stands beside a card that is refused stands for those
// who have seen it in force. The error means that nothing could be decided.
// It is called at a start when the agent does not answer.
func (j *Judge) Recall(ctx context.Context) (Ruling, error) {
	k, ok, err := j.Book.Kept(ctx, j.Agent)
	if err != nil || !ok || k.From != origin(j.From) {
		return Ruling{}, err
	}
	s, ok, err := j.Book.Standing(ctx, j.Agent)
	if err != nil || !ok || s.Digest != k.Standing {
		return Ruling{}, err // another card was approved since
	}
	c, err := j.open(ctx, k.Card)
	if err != nil {
		return Ruling{}, err
	}
	c.Seen = k.At
	r, err := j.rule(ctx, c)
	if err != nil {
		return Ruling{}, err
	}
	if r.State == Refused || r.Standing != r.Digest {
		r.InForce, r.Standing = nil, ""
	}
	r.Since = k.At
	j.publish(ctx, c, r)
	return r, nil
}
