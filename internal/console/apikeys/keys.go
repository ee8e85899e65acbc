package apikeys

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

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Keys are the API keys of callers, and what becomes of them. The errors that are the
// operator's to mend are those of this file.
type Keys interface {
	// Keys is at most limit of them, by the bytes of their ids, behind the id after; with part
	// those in whose id, subject, tenant or owner it is.
	Keys(part, after string, limit int) []APIKey
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

// Errors of Keys.
var (
	ErrNoKey   = errors.New("there is no such API key")
	ErrKeysOff = errors.New("API keys cannot be changed here: authn.apiKeys.api is false")
)

// KeyInvalid says what is wrong with an API key that was to be made or changed.
type KeyInvalid struct{ Err error }

// Error implements error.
func (e KeyInvalid) Error() string { return e.Err.Error() }

// Codes of changes of keys.
var (
	invalidKey = api.Code{Name: "INVALID_KEY", Status: http.StatusBadRequest}
	keysOff    = api.Code{Name: "KEYS_OFF", Status: http.StatusForbidden}
	noKey      = api.Code{Name: "NO_SUCH_KEY", Status: http.StatusNotFound}
)

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
	State      string    `json:"state" doc:"state of the key: active, rotating, expired or revoked"`
	Subject    string    `json:"subject"`
	Groups     []string  `json:"groups"`
	Scopes     []string  `json:"scopes"`
	Agents     []string  `json:"agents" doc:"agents that the key is valid for, if it is bound to agents"`
	Bound      bool      `json:"bound" doc:"the key is valid only for the agents in agents"`
	Tenant     string    `json:"tenant,omitzero"`
	Owner      string    `json:"owner,omitzero" doc:"who is responsible for the key"`
	Created    time.Time `json:"created,omitzero"`
	Expires    time.Time `json:"expires,omitzero" doc:"expiry of the key; absent if it never expires"`
	Used       time.Time `json:"used,omitzero" doc:"when a caller last used the key at this gateway"`
	Revoked    time.Time `json:"revoked,omitzero" doc:"when the key was revoked for all gateways"`
	ReplacedBy string    `json:"replacedBy,omitzero" doc:"id of the key that replaces this one"`
}

// NewKey says which key is to be made.
type NewKey struct {
	ID      string   `json:"id,omitzero" doc:"id of the key: 1 to 64 letters, digits, -, _ and .; default: random"`
	Subject string   `json:"subject,omitzero" doc:"subject of the caller; default: the id"`
	Groups  []string `json:"groups,omitzero"`
	Scopes  []string `json:"scopes,omitzero"`
	Agents  []string `json:"agents,omitzero" doc:"agents that the key is valid for; default: any"`
	Tenant  string   `json:"tenant,omitzero"`
	Owner   string   `json:"owner,omitzero" doc:"who is responsible for the key"`
	TTL     string   `json:"ttl,omitzero" doc:"lifetime of the key, such as 30d; default: until it is revoked"`
}

// MadeKey is a key that was made. It is shown once.
type MadeKey struct {
	ID       string `json:"id"`
	Key      string `json:"key" doc:"the key itself; the gateway does not store it and cannot show it again"`
	Replaces string `json:"replaces,omitzero" doc:"id of the key that this one replaces"`
}

// usualOverlap is how long a key that is replaced holds.
const usualOverlap = 24 * time.Hour

// keyErrors are what can be wrong with a change of keys.
var keyErrors = []api.Code{invalidKey, keysOff, noKey}

// screen answers about API keys, and changes them.
type screen struct{ keys Keys }

// Screen is about API keys, on the page of whose credentials are taken.
func Screen(all Keys) api.Screen {
	s := &screen{all}
	return api.Screen{
		Title: "API keys",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/keys", ID: "list-keys", Tag: "identities", Role: api.Viewer,
				Summary: "List API keys, without the keys themselves",
				Params:  []api.Param{{Name: "q", Text: "only keys with this text in their id, subject, tenant or owner"}}, Pages: true,
				Out: reflect.TypeFor[APIKeyPage](), Answer: s.listKeys,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/keys", ID: "make-key", Tag: "identities", Role: api.Admin, Writes: true,
				Summary: "Create an API key, and show it once", In: reflect.TypeFor[NewKey](), Out: reflect.TypeFor[MadeKey](),
				Errors: keyErrors, Answer: s.makeKey,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/keys/{id}/rotate", ID: "rotate-key", Tag: "identities", Role: api.Admin, Writes: true,
				Summary: "Replace an API key by a new one for the same caller, and show it once",
				Params:  []api.Param{{Name: "overlap", Text: "hours for which the old key stays valid; default: 24", Least: 0, Most: 8760}},
				Out:     reflect.TypeFor[MadeKey](), Errors: keyErrors, Answer: s.rotateKey,
			},
			{
				Method: http.MethodDelete, Path: "/api/v1/keys/{id}", ID: "revoke-key", Tag: "identities", Role: api.Admin, Writes: true,
				Summary: "Revoke an API key", Out: reflect.TypeFor[api.Changed](), Errors: keyErrors, Answer: s.revokeKey,
			},
		},
	}
}

func (s *screen) listKeys(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list := s.keys.Keys(c.Query.Get("q"), after, limit+1) // one more: is there more?
	page := APIKeyPage{Keys: append([]APIKey{}, list[:min(limit, len(list))]...)}
	if len(list) > limit {
		page.Next = c.Cursor(list[limit-1].ID)
	}
	return page, nil
}

func (s *screen) makeKey(c *api.Call) (any, error) {
	var k NewKey
	if err := c.Decode(&k, invalidKey); err != nil {
		return nil, err
	}
	if k.ID == "" {
		k.ID = strings.ToLower(rand.Text()[:8]) // here, so that it is on record
	}
	if !api.ValidID(k.ID) {
		return nil, invalidKey.Refuse("id: 1 to 64 letters, digits, -, _ and .")
	}
	var ttl quantity.Duration
	if k.TTL != "" {
		if err := ttl.UnmarshalText([]byte(k.TTL)); err != nil || ttl <= 0 {
			return nil, invalidKey.Refuse("ttl: want more than 0, as in 30d or 12h")
		}
	}
	attrs := map[string]string{
		"key_id": k.ID, "subject": k.Subject, "tenant": k.Tenant, "owner": k.Owner, "ttl": k.TTL,
		"groups": strings.Join(k.Groups, " "), "scopes": strings.Join(k.Scopes, " "), "agents": strings.Join(k.Agents, " "),
	}
	maps.DeleteFunc(attrs, func(_, v string) bool { return v == "" })
	var made MadeKey
	err := s.changeKey(c, "key.created", attrs, func(ctx context.Context) (err error) {
		made, err = s.keys.MakeKey(ctx, &k, ttl.Std())
		return err
	})
	return made, err
}

func (s *screen) rotateKey(c *api.Call) (any, error) {
	overlap := usualOverlap
	if hours, err := strconv.Atoi(c.Query.Get("overlap")); err == nil {
		overlap = time.Duration(hours) * time.Hour
	}
	id := c.PathValue("id")
	var made MadeKey
	err := s.changeKey(c, "key.rotated", map[string]string{"key_id": id, "overlap": fmt.Sprint(overlap)}, func(ctx context.Context) (err error) {
		made, err = s.keys.RotateKey(ctx, id, overlap)
		return err
	})
	return made, err
}

func (s *screen) revokeKey(c *api.Call) (any, error) {
	id := c.PathValue("id")
	return api.Changed{ID: id, State: KeyRevoked}, s.changeKey(c, "key.revoked", map[string]string{"key_id": id}, func(ctx context.Context) error {
		return s.keys.RevokeKey(ctx, id)
	})
}

// changeKey makes a change of an API key, which is on record before it is made.
func (s *screen) changeKey(c *api.Call, kind string, attrs map[string]string, do func(context.Context) error) error {
	missing := noKey.Refuse(ErrNoKey.Error())
	if id := attrs["key_id"]; id != "" && !api.ValidID(id) {
		return missing
	}
	return c.Change(kind, attrs, missing, func(ctx context.Context) (bool, error) {
		err := do(ctx)
		var invalid KeyInvalid
		switch {
		case errors.Is(err, ErrNoKey):
			return false, nil
		case errors.Is(err, ErrKeysOff):
			return false, keysOff.Refuse(ErrKeysOff.Error())
		case errors.As(err, &invalid):
			return false, invalidKey.Refuse(invalid.Error())
		}
		return err == nil, err
	})
}
