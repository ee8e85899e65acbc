package authn

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// noted is a principal that is written down. The digest of an API key comes with
// it, by which the key is known again.
type noted struct {
	Principal
	KeyHash  []byte
	Workload *noted // in the place of the principal's
}

// Remember writes down who a principal is, for what outlives its call by days. Chain.Recall
// reads it. It holds no credential, but what is known of a person: it is to be sealed.
func (p *Principal) Remember() ([]byte, error) {
	// Nil and empty lists of agents mean opposite things.
	data, err := json.Marshal(remember(p), json.FormatNilSliceAsNull(true))
	if err != nil {
		return nil, fmt.Errorf("write a principal: %w", err)
	}
	return data, nil
}

func remember(p *Principal) *noted {
	if p == nil {
		return nil
	}
	return &noted{Principal: *p, KeyHash: p.keyHash[:], Workload: remember(p.Workload)}
}

// Recall is a principal that was written down, as it is now: with the rights that its API
// key has today, or as its token or certificate was. The error says why it is nobody's any
// more: its key is gone, its issuer is not configured, or such callers are not let in. That
// a token or certificate has ended in the meantime is no reason, since they end while what
// their owner has asked for goes on.
func (c *Chain) Recall(data []byte) (*Principal, error) {
	var r noted
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, errors.New("a principal cannot be read") // the error would quote it
	}
	p, err := c.recall(&r)
	if err == nil && p.Method != methodAnonymous && !c.combines(p) {
		return nil, newRefused(faultCombination, reasonCombination, errors.New("authn.combinations has changed"))
	}
	return p, err
}

func (c *Chain) recall(r *noted) (*Principal, error) {
	said := r.Principal
	copy(said.keyHash[:], r.KeyHash)
	p, err := c.recallAlone(&said)
	if err != nil || r.Workload == nil {
		return p, err
	}
	workload, err := c.recall(r.Workload)
	if err != nil {
		return nil, err
	}
	with := *p
	with.Workload = workload
	return &with, nil
}

func (c *Chain) recallAlone(p *Principal) (*Principal, error) {
	if p.Method == methodAnonymous && c.anonymous != nil {
		return c.anonymous, nil
	}
	for _, s := range c.schemes {
		if now, err := s.Recall(p); !errors.Is(err, ErrNoCredentials) {
			return now, err
		}
	}
	return nil, errUnconfigured()
}
