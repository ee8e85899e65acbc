package push

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	// agreedFor is how long a target's word is good.
	agreedFor = 30 * 24 * time.Hour
	// askAgain is how often a target is asked that has not agreed.
	askAgain = 10 * time.Minute

	agreedSpace = "push-agreed"
	askedSpace  = "push-asked"

	// challengeParameter is what the token comes in.
	challengeParameter = "validationToken"
)

// challenge reports whether a target has agreed to be sent notifications, and asks it if
// nobody has. A stranger's address must not be flooded with questions either: an origin
// where nothing has agreed is asked once in 10 minutes, however many webhooks are said
// to be there, and so is each webhook.
//
// The GET has the token in the query and expects it back as text/plain, which is what webhook
// validation looks like elsewhere (CloudEvents, Microsoft Graph): an endpoint that was never
// meant to be one does not repeat it.
func (w *Worker) challenge(t *task) (result, bool) {
	ctx, cancel := context.WithTimeout(w.context, settleTimeout)
	defer cancel()
	hook, site := remembered(t.delivery.URL), remembered(origin(t.target))
	agreed, known, err := w.agreed(ctx, hook, site)
	if err == nil && agreed {
		return result{}, true
	}
	var first bool
	if err == nil {
		first, err = w.mayAsk(ctx, hook, site, known)
	}
	if err != nil {
		w.Log.Warn("who has agreed to be sent webhooks is not known", "err", err)
		return result{noCount: true, asked: t.settings.Attempts.First.Std(), why: "the state cannot be reached"}, false
	}
	if !first {
		return result{noCount: true, asked: askAgain, why: "the target has not agreed"}, false
	}
	token := rand.Text()
	r := w.send(t.settings, http.MethodGet, asking(t.target, token), http.Header{
		"User-Agent": {userAgent}, "Accept": {"text/plain"},
	}, nil)
	if r.status != http.StatusOK || strings.TrimSpace(string(r.body)) != token {
		if r.outcome == Delivered {
			r.outcome, r.why = outcomeFailed, "it did not repeat the token"
		}
		r.why, r.asked = "challenge: "+r.why, max(r.asked, askAgain)
		return r, false
	}
	now := []byte(w.Clock.Now().UTC().Format(time.RFC3339))
	err = errors.Join(w.Values.Put(ctx, agreedSpace, hook, now, agreedFor), w.Values.Put(ctx, agreedSpace, site, now, agreedFor))
	if err != nil {
		w.Log.Warn("that a target has agreed to be sent webhooks is not kept", "err", err)
	}
	return result{}, true
}

// agreed reports whether the webhook has, and whether any of its origin has.
func (w *Worker) agreed(ctx context.Context, hook, site string) (agreed, known bool, err error) {
	if _, agreed, err = w.Values.Get(ctx, agreedSpace, hook); err != nil || agreed {
		return agreed, agreed, err
	}
	_, known, err = w.Values.Get(ctx, agreedSpace, site)
	return false, known, err
}

// mayAsk takes the one question of these 10 minutes.
//
// The webhook and its origin are asked for separately, so that a hundred webhooks of an origin
// that has agreed are each asked at once, and those of one that has not are one question.
func (w *Worker) mayAsk(ctx context.Context, hook, site string, known bool) (bool, error) {
	if !known {
		if first, err := w.add(ctx, site); err != nil || !first {
			return false, err
		}
	}
	return w.add(ctx, hook)
}

// add is true for the first who asks within askAgain, among all gateways on the same state.
func (w *Worker) add(ctx context.Context, key string) (bool, error) {
	first, err := w.Values.Add(ctx, askedSpace, key, nil, askAgain)
	if errors.Is(err, state.ErrFull) {
		return false, nil // too many wait for an answer: this one waits longer
	}
	return first, err
}

// asking is the address of a challenge.
func asking(target *url.URL, token string) string {
	u := *target
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += challengeParameter + "=" + token
	return u.String()
}

// remembered is a key: addresses may be secrets.
func remembered(address string) string {
	sum := sha256.Sum256([]byte(address))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
