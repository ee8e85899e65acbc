package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// Stands reports whether a principal that was authenticated a while ago, maybe by
// the chain of an earlier configuration, still would be: nil, or why not. It is for
// streams that outlive their call, asks nobody, and costs no more than a lookup
// unless the issuer's configuration has changed. Proofs of possession are of their
// moment and are not asked for again.
func (c *Chain) Stands(p *Principal) error {
	if p.Method != MethodAnonymous && !c.combines(p) {
		return Refuse(FaultCombination, ReasonCombination, errors.New("authn.combinations has changed"))
	}
	if err := c.standsAlone(p); err != nil || p.Workload == nil {
		return err
	}
	return c.standsAlone(p.Workload)
}

func (c *Chain) standsAlone(p *Principal) error {
	if p.Method == MethodAnonymous && c.anonymous != nil {
		return nil
	}
	for _, s := range c.schemes {
		if s.Owns(p) {
			return s.Stands(p)
		}
	}
	return Unconfigured()
}

// Unconfigured refuses a principal of a scheme that is gone.
func Unconfigured() error {
	return Refuse(FaultScheme, ReasonScheme, errors.New("no longer configured"))
}

// Alike reports whether policies would see the same user in both.
func (p *Principal) Alike(o *Principal) bool {
	return p.Subject == o.Subject && p.Client == o.Client && p.Tenant == o.Tenant && p.ACR == o.ACR &&
		p.AuthTime.Equal(o.AuthTime) && slices.Equal(p.Groups, o.Groups) && slices.Equal(p.Scopes, o.Scopes) &&
		slices.Equal(p.AMR, o.AMR) && slices.Equal(p.Actors, o.Actors)
}

// Token is the text of p's credential in the request that it was authenticated from,
// without the name of its scheme; "" when there is none. It must go nowhere but to
// whom the configuration says. A workload's token is that of p.Workload.
func (c *Chain) Token(p *Principal, h http.Header) string {
	if p == nil || p.Carrier == "" || len(h[p.Carrier]) != 1 {
		return ""
	}
	value := h[p.Carrier][0]
	shown, ok := credential.ReadToken(value, p.Carrier != credential.Authorization)
	if !ok {
		return ""
	}
	return shown.Token
}

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
	if err == nil && p.Method != MethodAnonymous && !c.combines(p) {
		return nil, Refuse(FaultCombination, ReasonCombination, errors.New("authn.combinations has changed"))
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
	if p.Method == MethodAnonymous && c.anonymous != nil {
		return c.anonymous, nil
	}
	for _, s := range c.schemes {
		if now, err := s.Recall(p); !errors.Is(err, ErrNoCredentials) {
			return now, err
		}
	}
	return nil, Unconfigured()
}
