package trust_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// recalls says what a judge recalls, and which card comes into force by it.
func (c *court) recalls(want string) {
	c.t.Helper()
	r, err := c.Recall(c.t.Context())
	got := fmt.Sprintf("%s: %s", r.State, r.InForce)
	if err != nil {
		got = "error: " + err.Error()
	}
	if got != want && (err == nil || !strings.HasPrefix(got, want)) {
		c.t.Errorf("got %s\nwant %s", got, want)
	}
	if len(c.told) > 0 && !strings.HasPrefix(want, "refused") {
		c.t.Errorf("told of %q, which the agent does not serve now", c.told)
	}
	if r.InForce != nil && (r.Since.IsZero() || c.Status().State != r.State || c.Status().Standing != r.Digest) {
		c.t.Errorf("%+v, status %+v", r, c.Status())
	}
}

const none = ": "

// TestRecall: what was in force last is, for who starts without the agent, and nothing else.
func TestRecall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config trust.Config
		served []string
		want   string
	}{
		"accept":             {trust.Config{OnChange: trust.Accept}, []string{first, reworded}, "accepted: " + reworded},
		"alert":              {trust.Config{}, []string{first, poisoned}, "alerted: " + poisoned},
		"back again":         {trust.Config{}, []string{first, bumped, first}, "accepted: " + first},
		"quarantine":         {trust.Config{OnChange: trust.Quarantine}, []string{first, poisoned}, "accepted: " + first},
		"harmless step":      {trust.Config{OnChange: trust.Quarantine}, []string{first, bumped, poisoned}, "accepted: " + bumped},
		"the first waits":    {trust.Config{FirstSeen: trust.Quarantine}, []string{first}, none},
		"pinned":             {trust.Config{Digests: []string{digest(t, first)}}, []string{first, poisoned}, "accepted: " + first},
		"nothing was served": {trust.Config{}, nil, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCourt(t, tt.config, nil)
			for _, card := range tt.served {
				c.judge(card)
			}
			for range 2 {
				newReplica(t, c.store, tt.config, nil).recalls(tt.want)
			}
		})
	}
}

// TestRecallByOtherRules: what today's configuration does not allow is not recalled, though
// it stands; nor is a card from another URL.
func TestRecallByOtherRules(t *testing.T) {
	t.Parallel()
	const signed = `{"name":"Billing","version":"1","signatures":[{"protected":"p","signature":"s"}]}`
	const covered = `{"name":"Billing","version":"1"}`
	required := trust.Config{Signature: signature.Trust{Required: true, Keys: []string{"k.pem"}}}
	from := func(url string, v trust.Verifier) func(*trust.Options) {
		return func(o *trust.Options) { o.From, o.Verifier = url, v }
	}
	holds := vouches{verdict: signature.Verdict{Payload: []byte(covered)}}
	const here = "https://b.example/card.json"
	c := newCourt(t, required, from(here, holds))
	c.wants(signed, "accepted: "+covered)
	if k, ok, err := c.book.Kept(t.Context(), "billing"); err != nil || !ok || string(k.Card) != signed || strings.Contains(k.From, "b.example") {
		t.Errorf("%+v, %v", k, err)
	}
	for _, tt := range []struct {
		config trust.Config
		change func(*trust.Options)
		want   string
	}{
		{required, from(here, holds), "accepted: " + covered},
		{trust.Config{}, from(here, nil), "accepted: " + signed},
		{required, from(here, vouches{err: signature.ErrUnavailable}), "error: " + signature.ErrUnavailable.Error()},
		{required, from("https://b.example/other.json", holds), none},
		{trust.Config{Digests: []string{digest(t, first)}}, from(here, nil), "refused: "},
		{required, from(here, vouches{err: signature.ErrUntrusted}), "refused: "},
	} {
		newReplica(t, c.store, tt.config, tt.change).recalls(tt.want)
	}
	again := strings.Replace(signed, `"s"`, `"with the next key"`, 1)
	c.wants(again, "accepted: "+covered)
	if k, _, err := c.book.Kept(t.Context(), "billing"); err != nil || string(k.Card) != again {
		t.Errorf("the signature of before is kept: %s, %v", k.Card, err)
	}
}

// TestRecallAfterDecisions: a card that was approved is recalled once a gateway has had it in
// force, and the one before it is not any more.
func TestRecallAfterDecisions(t *testing.T) {
	t.Parallel()
	config := trust.Config{OnChange: trust.Quarantine}
	c := newCourt(t, config, nil)
	c.wants(first, "accepted: "+first)
	c.wants(reworded, "quarantined: "+first)
	if _, err := c.book.Approve(t.Context(), "billing", digest(t, reworded), "alice"); err != nil {
		t.Fatal(err)
	}
	newReplica(t, c.store, config, nil).recalls(none)
	c.wants(reworded, "approved: "+reworded)
	newReplica(t, c.store, config, nil).recalls("approved: " + reworded)
	if _, err := newReplica(t, broken{}, config, nil).Recall(t.Context()); !errors.Is(err, state.ErrUnavailable) {
		t.Error(err)
	}
}
