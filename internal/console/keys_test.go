package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/apikeys"
	"github.com/a2a-gateway/a2a-gateway/internal/console/identities"
)

// ring is Callers of whom there are keys k-00 to k-24.
type ring struct {
	err     error
	made    *apikeys.NewKey
	life    time.Duration
	overlap time.Duration
	revoked string
}

func (*ring) Identities() identities.Identities {
	return identities.Identities{Issuers: []identities.Issuer{{Issuer: "https://id.example", Keys: []identities.IssuerKey{{ID: "1", Kind: "Ed25519"}}}}}
}

func (*ring) Keys(part, after string, limit int) []apikeys.APIKey {
	var list []apikeys.APIKey
	for i := range 25 {
		if id := fmt.Sprintf("k-%02d", i); strings.Contains(id, part) && id > after && len(list) < limit {
			list = append(list, apikeys.APIKey{ID: id, State: apikeys.KeyActive, Subject: "alice"})
		}
	}
	return list
}

func (r *ring) MakeKey(_ context.Context, k *apikeys.NewKey, life time.Duration) (apikeys.MadeKey, error) {
	r.made, r.life = k, life
	return apikeys.MadeKey{ID: k.ID, Key: "a2a_text"}, r.err
}

func (r *ring) RotateKey(_ context.Context, id string, overlap time.Duration) (apikeys.MadeKey, error) {
	r.overlap = overlap
	return apikeys.MadeKey{ID: id + ".2", Key: "a2a_text", Replaces: id}, r.err
}

func (r *ring) RevokeKey(_ context.Context, id string) error {
	r.revoked = id
	return r.err
}

// keyPage is a page of API keys.
func (w *world) keyPage(query string) (page apikeys.APIKeyPage) {
	w.t.Helper()
	got := w.ask(http.MethodGet, "/api/v1/keys"+query, nil)
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != http.StatusOK {
		w.t.Fatal(got, err)
	}
	return page
}

// TestKeys: API keys page by page, and by a part of a name.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got, next := 0, ""
	for range 3 {
		page := w.keyPage("?limit=10" + next)
		got += len(page.Keys)
		if next = "&cursor=" + page.Next; page.Next == "" {
			break
		}
	}
	if got != 25 || next != "&cursor=" {
		t.Errorf("%d keys, then %q", got, next)
	}
	if page := w.keyPage("?q=k-1"); len(page.Keys) != 10 {
		t.Errorf("with k-1 in it: %+v", page)
	}
}

// TestKeyChanges: what is made is shown once and is not on record; that it was made is.
func TestKeyChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	post := func(body string) answer {
		return w.ask(http.MethodPost, "/api/v1/keys", func(req *http.Request) { send(req, body) })
	}
	got := post(`{"id":"robot","subject":"r","groups":["g"],"owner":"ops","ttl":"30d"}`)
	if got.status != 200 || got.body != `{"id":"robot","key":"a2a_text"}` || w.ring.made.Groups[0] != "g" || w.ring.life != 30*24*time.Hour {
		t.Error(got, w.ring)
	}
	if got := post(`{}`); got.status != 200 || len(w.ring.made.ID) != 8 || w.ring.life != 0 {
		t.Error(got, w.ring)
	}
	for body, code := range map[string]string{
		`[]`: "INVALID_KEY", `{"hash":"x"}`: "INVALID_KEY", `{"id":"a b"}`: "INVALID_KEY", `{"ttl":"soon"}`: "INVALID_KEY", `{"ttl":"-1h"}`: "INVALID_KEY",
	} {
		if got := post(body); got.status != 400 || !strings.Contains(got.body, code) {
			t.Errorf("%s: %s", body, got)
		}
	}
	if got := w.ask(http.MethodPost, "/api/v1/keys/robot/rotate", nil); got.status != 200 || w.ring.overlap != 24*time.Hour {
		t.Error(got, w.ring)
	}
	if got := w.ask(http.MethodPost, "/api/v1/keys/robot/rotate?overlap=0", nil); got.status != 200 || w.ring.overlap != 0 {
		t.Error(got, w.ring)
	}
	if got := w.ask(http.MethodDelete, "/api/v1/keys/robot", nil); got.body != `{"id":"robot","state":"revoked"}` || w.ring.revoked != "robot" {
		t.Error(got, w.ring)
	}
	text := fmt.Sprint(w.recorded())
	for _, want := range []string{"event:key.created", "key_id:robot", "owner:ops", "event:key.rotated", "overlap:24h0m0s", "event:key.revoked", "who:admin-token", "groups:g", "ttl:30d"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not on record: %s", want, text)
		}
	}
	if strings.Contains(text+w.log.String(), "a2a_text") {
		t.Error("the text of a key is on record, or in the log")
	}

	for _, tt := range []struct {
		err    error
		status int
		code   string
	}{
		{apikeys.ErrNoKey, 404, "NO_SUCH_KEY"}, {fmt.Errorf("x: %w", apikeys.ErrKeysOff), 403, "KEYS_OFF"}, {apikeys.KeyInvalid{Err: errors.New("it has expired")}, 400, "INVALID_KEY"},
		{errors.New("disk"), 500, "INTERNAL"},
	} {
		w.ring.err = tt.err
		if got := w.ask(http.MethodPost, "/api/v1/keys/robot/rotate", nil); got.status != tt.status || !strings.Contains(got.body, tt.code) || strings.Contains(got.body, "a2a_text") {
			t.Errorf("%v: %s", tt.err, got)
		}
	}
}
