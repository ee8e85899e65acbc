package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// KeyChanges are what becomes of API keys. The errors that are the operator's to mend are
// those of this file.
type KeyChanges interface {
	// MakeKey makes a key that is good for so long, or until it is revoked with 0. Its text is
	// in the answer and nowhere else.
	MakeKey(ctx context.Context, k *NewKey, life time.Duration) (MadeKey, error)
	// RotateKey makes one in the place of another, which holds for overlap longer. An error
	// wraps ErrNoKey where there is none of that id.
	RotateKey(ctx context.Context, id string, overlap time.Duration) (MadeKey, error)
	// RevokeKey has a key refused from now on: at all gateways where the state is shared, and
	// at those that read its file where keys may be changed here. An error wraps ErrNoKey
	// where there is none of that id.
	RevokeKey(ctx context.Context, id string) error
}

// Errors of KeyChanges.
var (
	ErrNoKey   = errors.New("there is no such API key")
	ErrKeysOff = errors.New("API keys cannot be changed here: authn.apiKeys.api is false")
)

// KeyInvalid says what is wrong with an API key that was to be made or changed.
type KeyInvalid struct{ Err error }

// Error implements error.
func (e KeyInvalid) Error() string { return e.Err.Error() }

// States of an API key.
const (
	KeyActive   = "active"
	KeyRotating = "rotating" // another one replaces it
	KeyExpired  = "expired"
	KeyRevoked  = "revoked" // for all gateways
)

// APIKeyPage is the answer of GET /api/v1/keys.
type APIKeyPage struct {
	Keys []APIKey `json:"keys"`
	Next string   `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// APIKey is all that the API says of an API key.
type APIKey struct {
	ID         string    `json:"id"`
	State      string    `json:"state" doc:"active, rotating, expired or revoked"`
	Subject    string    `json:"subject"`
	Groups     []string  `json:"groups"`
	Scopes     []string  `json:"scopes"`
	Agents     []string  `json:"agents" doc:"that it is good for, where it is bound"`
	Bound      bool      `json:"bound" doc:"it is good for agents and for no other"`
	Tenant     string    `json:"tenant,omitzero"`
	Owner      string    `json:"owner,omitzero" doc:"who answers for it"`
	Created    time.Time `json:"created,omitzero"`
	Expires    time.Time `json:"expires,omitzero" doc:"nothing for never"`
	Used       time.Time `json:"used,omitzero" doc:"when this gateway last saw it"`
	Revoked    time.Time `json:"revoked,omitzero" doc:"when it was, for all gateways"`
	ReplacedBy string    `json:"replacedBy,omitzero" doc:"id of the key that was made in its place"`
}

// NewKey says which key is to be made.
type NewKey struct {
	ID      string   `json:"id,omitzero" doc:"1 to 64 letters, digits, -, _ and .; random unless set"`
	Subject string   `json:"subject,omitzero" doc:"of the caller; the id unless set"`
	Groups  []string `json:"groups,omitzero"`
	Scopes  []string `json:"scopes,omitzero"`
	Agents  []string `json:"agents,omitzero" doc:"it is good for; any unless set"`
	Tenant  string   `json:"tenant,omitzero"`
	Owner   string   `json:"owner,omitzero" doc:"who answers for it"`
	TTL     string   `json:"ttl,omitzero" doc:"how long it is good, as in 30d; until it is revoked unless set"`
}

// MadeKey is a key that was made. It is shown once.
type MadeKey struct {
	ID       string `json:"id"`
	Key      string `json:"key" doc:"its text, which is kept nowhere and cannot be shown again"`
	Replaces string `json:"replaces,omitzero" doc:"id of the key that it was made for"`
}

// usualOverlap is how long a key that is replaced holds.
const usualOverlap = 24 * time.Hour

// keyErrors are what can be wrong with a change of keys.
var keyErrors = []string{codeInvalidKey, codeKeysOff, codeNoKey}

// keyOperations are those about API keys.
var keyOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/keys", id: "list-keys", tag: "identities", role: Viewer,
		summary: "API keys, without what would let somebody use them",
		params:  pages(param{name: "q", text: "a part of the id, subject, tenant or owner"}),
		out:     reflect.TypeFor[APIKeyPage](), answer: (*Console).listKeys,
	},
	{
		method: http.MethodPost, path: "/api/v1/keys", id: "make-key", tag: "identities", role: Admin, writes: true,
		summary: "Make an API key, and show it once", in: reflect.TypeFor[NewKey](), out: reflect.TypeFor[MadeKey](),
		errors: keyErrors, answer: (*Console).makeKey,
	},
	{
		method: http.MethodPost, path: "/api/v1/keys/{id}/rotate", id: "rotate-key", tag: "identities", role: Admin, writes: true,
		summary: "Make one in the place of another, for the same caller, and show it once",
		params:  []param{{name: "overlap", text: "for how many hours the old one holds; 24 unless set", least: 0, most: 8760}},
		out:     reflect.TypeFor[MadeKey](), errors: keyErrors, answer: (*Console).rotateKey,
	},
	{
		method: http.MethodDelete, path: "/api/v1/keys/{id}", id: "revoke-key", tag: "identities", role: Admin, writes: true,
		summary: "Have one refused from now on", out: reflect.TypeFor[Changed](), errors: keyErrors, answer: (*Console).revokeKey,
	},
}

func (s *Console) listKeys(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	list := s.Callers.Keys(c.query.Get("q"), after, limit+1) // one more: is there more?
	page := APIKeyPage{Keys: append([]APIKey{}, list[:min(limit, len(list))]...)}
	if len(list) > limit {
		page.Next = cursor(list[limit-1].ID)
	}
	return page, nil
}

func (s *Console) makeKey(c *call) (any, error) {
	doc, err := s.body(c)
	if err != nil {
		return nil, err
	}
	var k NewKey
	if err := json.Unmarshal(doc, &k, json.RejectUnknownMembers(true)); err != nil {
		return nil, refuse(codeInvalidKey, "the body is no API key that is to be made: "+err.Error())
	}
	if k.ID == "" {
		k.ID = strings.ToLower(rand.Text()[:8]) // here, so that it is on record
	}
	if !agentID.MatchString(k.ID) {
		return nil, refuse(codeInvalidKey, "id: 1 to 64 letters, digits, -, _ and .")
	}
	var ttl secret.Duration
	if k.TTL != "" {
		if err := ttl.UnmarshalText([]byte(k.TTL)); err != nil || ttl <= 0 {
			return nil, refuse(codeInvalidKey, "ttl: want more than 0, as in 30d or 12h")
		}
	}
	attrs := map[string]string{
		"key_id": k.ID, "subject": k.Subject, "tenant": k.Tenant, "owner": k.Owner, "ttl": k.TTL,
		"groups": strings.Join(k.Groups, " "), "scopes": strings.Join(k.Scopes, " "), "agents": strings.Join(k.Agents, " "),
	}
	maps.DeleteFunc(attrs, func(_, v string) bool { return v == "" })
	var made MadeKey
	err = s.changeKey(c, "key.created", attrs, func(ctx context.Context) (err error) {
		made, err = s.Callers.MakeKey(ctx, &k, ttl.Std())
		return err
	})
	return made, err
}

func (s *Console) rotateKey(c *call) (any, error) {
	overlap := usualOverlap
	if hours, err := strconv.Atoi(c.query.Get("overlap")); err == nil {
		overlap = time.Duration(hours) * time.Hour
	}
	id := c.PathValue("id")
	var made MadeKey
	err := s.changeKey(c, "key.rotated", map[string]string{"key_id": id, "overlap": fmt.Sprint(overlap)}, func(ctx context.Context) (err error) {
		made, err = s.Callers.RotateKey(ctx, id, overlap)
		return err
	})
	return made, err
}

func (s *Console) revokeKey(c *call) (any, error) {
	id := c.PathValue("id")
	return Changed{id, KeyRevoked}, s.changeKey(c, "key.revoked", map[string]string{"key_id": id}, func(ctx context.Context) error {
		return s.Callers.RevokeKey(ctx, id)
	})
}

// changeKey makes a change of an API key, which is on record before it is made.
func (s *Console) changeKey(c *call, kind string, attrs map[string]string, do func(context.Context) error) error {
	missing := refuse(codeNoKey, ErrNoKey.Error())
	if id := attrs["key_id"]; id != "" && !agentID.MatchString(id) {
		return missing
	}
	return s.change(c, kind, attrs, missing, func(ctx context.Context) (bool, error) {
		err := do(ctx)
		var invalid KeyInvalid
		switch {
		case errors.Is(err, ErrNoKey):
			return false, nil
		case errors.Is(err, ErrKeysOff):
			return false, refuse(codeKeysOff, ErrKeysOff.Error())
		case errors.As(err, &invalid):
			return false, refuse(codeInvalidKey, invalid.Error())
		}
		return err == nil, err
	})
}
