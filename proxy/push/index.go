package push

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// index notes a webhook among those of its task and, while that has not ended, of its
// owner.
//
// Two indexes lead to a webhook, because lists by task and by owner are asked for and the state
// has no queries. They run out with the webhook.
func (r *Registry) index(ctx context.Context, h *Webhook) error {
	var err error
	if h.Ended.IsZero() {
		err = r.values.Put(ctx, ownerSpace, digest(h.Owner)+"/"+h.id, nil, r.keptFor)
	}
	if err == nil && h.Task != "" {
		err = r.values.Put(ctx, taskSpace, ofTask(h.Agent, h.Task)+"/"+h.id, nil, r.keptFor)
	}
	if err != nil {
		return fmt.Errorf("remember a webhook: %w", err)
	}
	return nil
}

// leave is the inverse of index.
func (r *Registry) leave(ctx context.Context, h *Webhook) error {
	err := r.values.Delete(ctx, ownerSpace, digest(h.Owner)+"/"+h.id)
	if err == nil && h.Task != "" {
		err = r.values.Delete(ctx, taskSpace, ofTask(h.Agent, h.Task)+"/"+h.id)
	}
	if err != nil {
		return fmt.Errorf("forget a webhook: %w", err)
	}
	return nil
}

// members are at most so many webhooks of an owner or task.
//
// Keys sort by group, so that the first key of another group ends the list.
func (r *Registry) members(ctx context.Context, space, group string, most int) ([]string, error) {
	list, err := r.values.List(ctx, space, group+"/", most)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	ids := make([]string, 0, len(list))
	for _, v := range list {
		id, ok := strings.CutPrefix(v.Key, group+"/")
		if !ok {
			break // of the next group
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// ofTask is the group of a task's webhooks: a digest, as ids may be longer than keys.
func ofTask(agent, task string) string {
	h := sha256.New()
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(agent))))
	_, _ = io.WriteString(h, agent+task)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// tokenBytes make tokens that nobody guesses.
const tokenBytes = 32

// random makes a token of 256 bits, in the alphabet that may stand in a URL.
func random() string {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// digest is what stands for a secret or an id of any length in the state: SHA-256 in base64url.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
