package demo

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithm signs every token: small keys, made in a moment, accepted by every
// verifier.
const algorithm = jose.ES256

// keptKeys are published: the one in use and the one before, so that tokens
// outlive a rotation.
const keptKeys = 2

// issuerKey is a signing key and its kid.
type issuerKey struct {
	id      string
	private *ecdsa.PrivateKey
}

// Rotate makes a new key and signs with it from now on. The key before stays
// published, older ones are forgotten: rotating twice invalidates every token
// issued earlier.
func (i *Issuer) Rotate() error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append([]*issuerKey{{id: rand.Text()[:12], private: private}}, i.keys...)
	i.keys = i.keys[:min(len(i.keys), keptKeys)]
	return nil
}

// publicKeys are what /jwks answers.
func (i *Issuer) publicKeys() jose.JSONWebKeySet {
	i.mu.Lock()
	defer i.mu.Unlock()
	var set jose.JSONWebKeySet
	for _, k := range i.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key: k.private.Public(), KeyID: k.id, Algorithm: string(algorithm), Use: "sig",
		})
	}
	return set
}

// currentKey signs what is issued now.
func (i *Issuer) currentKey() *issuerKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// IssueOptions describe one token. The zero value is a token for any audience
// of that name, "a2a-gateway", with the lifetime of the issuer.
type IssueOptions struct {
	Audience []string       // aud. Default {"a2a-gateway"}
	Scopes   []string       // scope, joined by spaces; left out when empty
	Groups   []string       // groups; left out when empty
	Client   string         // client_id. Default the subject
	Tenant   string         // tenant; left out when empty
	TTL      time.Duration  // exp - iat; negative makes an expired token. Default the issuer's
	Type     string         // typ header. Default "at+jwt" (RFC 9068 §2.1)
	Claims   map[string]any // set last: overrides any claim; a nil value removes it
	// ForeignKey signs with a key that nobody published, under the key id of
	// the published one: a forged token.
	ForeignKey bool
}

// Issue makes a signed token for the subject, without the token endpoint.
func (i *Issuer) Issue(subject string, o IssueOptions) (string, error) {
	// kid says which of the published keys verifies the signature (RFC 7515 §4.1.4).
	key := i.currentKey()
	if o.ForeignKey {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return "", fmt.Errorf("make foreign key: %w", err)
		}
		key = &issuerKey{id: key.id, private: private}
	}
	typ := o.Type
	if typ == "" {
		typ = "at+jwt"
	}
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(typ)).WithHeader("kid", key.id)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key.private}, options)
	if err != nil {
		return "", fmt.Errorf("make token signer: %w", err)
	}
	token, err := jwt.Signed(signer).Claims(i.claims(subject, o)).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return token, nil
}

// claims are those of an access token (RFC 9068 §2.2), then those of o.Claims over them.
func (i *Issuer) claims(subject string, o IssueOptions) map[string]any {
	if len(o.Audience) == 0 {
		o.Audience = []string{"a2a-gateway"}
	}
	if o.TTL == 0 {
		o.TTL = i.options.TTL
	}
	if o.Client == "" {
		o.Client = subject
	}
	now := time.Now()
	claims := map[string]any{
		"iss":       i.URL,
		"sub":       subject,
		"aud":       o.Audience,
		"iat":       now.Unix(),
		"exp":       now.Add(o.TTL).Unix(),
		"jti":       rand.Text(),
		"client_id": o.Client,
	}
	if len(o.Scopes) > 0 {
		claims["scope"] = strings.Join(o.Scopes, " ")
	}
	if len(o.Groups) > 0 {
		claims["groups"] = o.Groups
	}
	if o.Tenant != "" {
		claims["tenant"] = o.Tenant
	}
	// A test of a verifier takes a claim away, or gives it another type.
	maps.Copy(claims, o.Claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// tokenAnswer is a successful answer of the token endpoint (RFC 6749 §5.1).
type tokenAnswer struct {
	Token   string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"`
	Scope   string `json:"scope,omitempty"`
	ID      string `json:"id_token,omitempty"`
}

// tokenError is a refusal of the token endpoint (RFC 6749 §5.2).
type tokenError struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// token is the token endpoint (RFC 6749 §3.2). Answers are not to be stored (§5.1).
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		answer(w, http.StatusBadRequest, tokenError{"invalid_request", "unreadable form"})
		return
	}
	// The public client has no secret; its verifier stands for one.
	if r.PostForm.Get("grant_type") == "authorization_code" {
		i.redeem(w, r.PostForm)
		return
	}
	user, ok := i.client(r)
	if !ok {
		// Required with 401 (RFC 6749 §5.2).
		w.Header().Set("WWW-Authenticate", `Basic realm="development issuer"`)
		answer(w, http.StatusUnauthorized, tokenError{"invalid_client", ""})
		return
	}
	if r.PostForm.Get("grant_type") != "client_credentials" {
		answer(w, http.StatusBadRequest, tokenError{"unsupported_grant_type", "only client_credentials and authorization_code"})
		return
	}
	scopes, err := user.grant(r.PostForm.Get("scope"))
	if err != nil {
		answer(w, http.StatusBadRequest, tokenError{"invalid_scope", err.Error()})
		return
	}
	token, err := i.Issue(user.Name, IssueOptions{
		Audience: audiences(r.PostForm), Scopes: scopes, Groups: user.Groups, Tenant: user.Tenant,
	})
	if err != nil {
		answer(w, http.StatusInternalServerError, tokenError{"server_error", ""})
		return
	}
	answer(w, http.StatusOK, tokenAnswer{
		Token: token, Type: "Bearer", Expires: int64(i.options.TTL.Seconds()), Scope: strings.Join(scopes, " "),
	})
}

// client finds whose credentials the request carries, in the Authorization
// header or in the form (RFC 6749 §2.3.1).
func (i *Issuer) client(r *http.Request) (User, bool) {
	// Servers have to support Basic; the form is for clients that cannot (RFC 6749 §2.3.1).
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	for _, u := range i.options.Users {
		if u.Name == id && subtle.ConstantTimeCompare([]byte(u.Secret), []byte(secret)) == 1 {
			return u, true
		}
	}
	return User{}, false
}

var errScope = errors.New("scope is not this user's")

// grant gives the scopes asked for, or all of them when nothing is asked.
func (u User) grant(asked string) ([]string, error) {
	if asked == "" {
		return u.Scopes, nil
	}
	// All of them or none: a token with less than was asked for would surprise a test.
	scopes := strings.Fields(asked)
	for _, s := range scopes {
		if !slices.Contains(u.Scopes, s) {
			return nil, errScope
		}
	}
	return scopes, nil
}

// audiences reads resource (RFC 8707, repeatable) and audience (as in RFC 8693).
func audiences(form url.Values) []string {
	all := slices.Concat(form["resource"], form["audience"])
	return slices.DeleteFunc(all, func(a string) bool { return a == "" })
}

// scopes lists what any user may ask for, for the discovery document.
func (i *Issuer) scopes() []string {
	var all []string
	for _, u := range i.options.Users {
		all = append(all, u.Scopes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
