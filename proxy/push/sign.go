package push

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// signatureLife is how long the signature of an attempt is good.
const signatureLife = 5 * time.Minute

// signatureType tells the gateway's JWTs for webhooks from those for agents (RFC 8725
// §3.11): neither passes for the other.
const signatureType = "a2a-notification+jwt"

// userAgent is who calls.
const userAgent = "a2a-gateway"

// claims are those of a signed notification (A2A 0.3 §9.5). The digest has the name that
// the samples of the SDKs have it by.
type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Task     string `json:"taskId,omitzero"`
	Digest   string `json:"request_body_sha256"` // hexadecimal
}

// signer signs in the gateway's name.
type signer struct {
	sign   func(typ string, payload []byte) (string, error) // nil for no signatures
	issuer string
	name   string // in Via; "" for none
}

// token is the JWT of one attempt; "" without a key.
//
// The audience is the target's origin, so that a receiver cannot pass the JWT off as its own
// sender's elsewhere; the digest ties it to the body.
func (s signer) token(d *Delivery, target *url.URL, now time.Time) (string, error) {
	if s.sign == nil {
		return "", nil
	}
	digest := sha256.Sum256(d.Body)
	payload, err := json.Marshal(claims{
		Issuer: s.issuer, Audience: origin(target), ID: d.ID, Task: d.Task, Digest: hex.EncodeToString(digest[:]),
		IssuedAt: now.Unix(), Expires: now.Add(signatureLife).Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("write signature: %w", err)
	}
	return s.sign(signatureType, payload)
}

// headers are those of one attempt. What the receiver was promised when it registered
// comes with every attempt, its ID above all, by which it knows a second delivery.
//
// webhook-id and webhook-timestamp are those of Standard Webhooks. The token goes by the header's
// name of each A2A version; a client of 1.0 gets both spellings, as SDKs read either.
func (s signer) headers(d *Delivery, target *url.URL, trace string, now time.Time) (http.Header, error) {
	h := http.Header{
		"Content-Type":      {contentType(d)},
		"User-Agent":        {userAgent},
		"Webhook-Id":        {d.ID},
		"Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
	}
	if s.name != "" {
		h.Set("Via", "1.1 "+s.name) // a webhook that leads to a gateway, this one perhaps, can be seen
	}
	if trace != "" {
		h.Set("Traceparent", trace)
	}
	if token := d.Token.Reveal(); token != "" {
		h.Set("X-A2A-Notification-Token", token)
		if d.Version == wire.V10 {
			h.Set("A2A-Notification-Token", token)
		}
	}
	jwt, err := s.token(d, target, now)
	if err != nil {
		return nil, err
	}
	if jwt != "" {
		h.Set("A2A-Notification-Signature", jwt)
	}
	credentials := d.Credentials.Reveal()
	if credentials == "" && strings.EqualFold(d.Scheme, "Bearer") {
		credentials = jwt // the receiver expects one and has given none
	}
	if d.Scheme != "" && credentials != "" {
		h.Set("Authorization", d.Scheme+" "+credentials)
	}
	return h, nil
}

// contentType is the delivery's own, or the one that the receiver's version expects (A2A 1.0
// §4.3.3: application/a2a+json).
func contentType(d *Delivery) string {
	switch {
	case d.ContentType != "":
		return d.ContentType
	case d.Version == wire.V10:
		return "application/a2a+json"
	}
	return "application/json"
}
