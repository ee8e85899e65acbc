package authn

import (
	"errors"
	"fmt"
	"time"

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
		return nil, refuse(faultCombination, errors.New("authn.combinations has changed"))
	}
	return p, err
}

func (c *Chain) recall(r *noted) (*Principal, error) {
	p := r.Principal
	copy(p.keyHash[:], r.KeyHash)
	switch {
	case p.Method == methodAnonymous && c.anonymous != nil:
		return c.anonymous, nil
	case p.goesBy(namedAPIKeys) && c.keys != nil && c.keys.takes(p.Carrier):
		now, err := c.keys.recall(&p)
		if err != nil {
			return nil, err
		}
		p = *now
	case p.goesBy(namedMTLS) && c.certs != nil:
	case c.bearer != nil && c.bearer.issuers[p.Issuer] != nil:
		p.origin = &origin{issuer: c.bearer.issuers[p.Issuer]}
	default:
		return nil, refuse(faultScheme, errors.New("no longer configured"))
	}
	if r.Workload == nil {
		return &p, nil
	}
	workload, err := c.recall(r.Workload)
	if err != nil {
		return nil, err
	}
	p.Workload = workload
	return &p, nil
}

// recall is what the key of an earlier principal stands for now.
func (a *apiKeys) recall(p *Principal) (*Principal, error) {
	now, f := a.file.table.Load().recall(p, a.now())
	if f == "" {
		var err error
		if f, err = a.elsewhere(p.KeyID); err != nil {
			return nil, err
		}
	}
	if f != "" {
		return nil, &Refused{Scheme: schemeAPIKey, Code: "invalid_token", Reason: f.reason(), fault: f}
	}
	return now, nil
}

// recall finds the key of an earlier principal. Its subject is the same: another's tasks
// are not what the key may learn of.
func (t *keyTable) recall(p *Principal, now time.Time) (*Principal, fault) {
	index, found := t.index[beginning(&p.keyHash)]
	if !found || t.keys[index].hash != p.keyHash || t.keys[index].id() != p.KeyID {
		return nil, faultAPIKey
	}
	if t.keys[index].expired(now) {
		return nil, faultKeyExpired
	}
	again := t.principal(index, p.Carrier)
	if again.Subject != p.Subject {
		return nil, faultAPIKey
	}
	return again, ""
}
