package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// authority is the authorization server of a system of its own. It gives tokens for
// that system's agents in exchange for tokens of issuers that it trusts (RFC 8693).
type authority struct {
	*demo.Issuer

	tokenURL string

	mu     sync.Mutex
	trusts map[string]string // JWK sets by issuer
	people map[string]string // who a subject of another system is here; nobody else is anybody
	life   int               // expires_in; the tokens themselves are good for longer
	down   bool
	asked  []url.Values
}

// The gateway at an authority.
const gatewayClient, gatewaySecret = "a2a-gateway", "gateway-secret"

// newAuthority runs one until the test ends.
func newAuthority(t testing.TB, people map[string]string) *authority {
	t.Helper()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{Issuer: issuer, trusts: map[string]string{}, people: people, life: 300}
	server := httptest.NewServer(http.HandlerFunc(a.exchange))
	a.tokenURL = server.URL + "/token"
	t.Cleanup(func() {
		server.Close()
		_ = issuer.Close(context.Background())
	})
	return a
}

// change does something to what the authority goes by.
func (a *authority) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
}

func (a *authority) trust(issuer, jwks string) { a.change(func() { a.trusts[issuer] = jwks }) }

// questions are the forms that it was asked with.
func (a *authority) questions() []url.Values {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *authority) exchange(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, code)
	}
	id, secret, _ := r.BasicAuth()
	if err := r.ParseForm(); err != nil || id != gatewayClient || secret != gatewaySecret {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	a.mu.Lock()
	a.asked = append(a.asked, r.PostForm)
	down, life, trusts := a.down, a.life, maps.Clone(a.trusts)
	a.mu.Unlock()
	if down {
		refuse(http.StatusServiceUnavailable, "temporarily_unavailable")
		return
	}
	subject, actor, err := a.somebody(r.PostForm, trusts)
	if err != nil {
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	scopes := strings.Fields(r.PostForm.Get("scope"))
	token, err := a.Issue(subject, demo.IssueOptions{
		Audience: r.PostForm["audience"], Scopes: scopes, Client: id, Claims: map[string]any{"act": actor},
	})
	if err != nil {
		refuse(http.StatusInternalServerError, "server_error")
		return
	}
	_, _ = fmt.Fprintf(w, `{"access_token":%q,"issued_token_type":"urn:ietf:params:oauth:token-type:access_token",`+
		`"token_type":"Bearer","expires_in":%d}`, token, life)
}

// somebody finds out who the subject token is about, and that the gateway acts for
// them. A token that was not meant for the gateway is not taken from it.
func (a *authority) somebody(form url.Values, trusts map[string]string) (string, map[string]any, error) {
	if form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange" {
		return "", nil, errors.New("another grant")
	}
	token := form.Get("subject_token")
	issuer, err := unverified(token)
	if err != nil {
		return "", nil, err
	}
	audience := gatewayClient
	if strings.HasSuffix(form.Get("subject_token_type"), ":jwt") {
		audience = a.tokenURL // the gateway's own assertion
	}
	claims, err := verified(token, trusts[issuer], issuer, audience)
	if err != nil {
		return "", nil, err
	}
	subject, _ := claims["sub"].(string)
	if a.people[subject] == "" {
		return "", nil, errors.New("nobody here")
	}
	actor := map[string]any{"sub": gatewayClient}
	if before, ok := claims["act"]; ok {
		actor["act"] = before
	}
	return a.people[subject], actor, nil
}

// unverified is the issuer that a JWT names.
func unverified(token string) (string, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil {
		return "", err
	}
	var claims jwt.Claims
	err = parsed.UnsafeClaimsWithoutVerification(&claims)
	return claims.Issuer, err
}

// kid names the key that signed a JWT.
func kid(token string) string {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil || len(parsed.Headers) == 0 {
		return ""
	}
	return parsed.Headers[0].KeyID
}

// verified reads a JWT as a careful recipient does: by the keys that its issuer
// publishes now, for its time and its audience.
func verified(token, jwks, issuer, audience string) (map[string]any, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil {
		return nil, err
	}
	keys, err := keySet(jwks)
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	var all map[string]any
	if err := parsed.Claims(keys, &claims, &all); err != nil {
		return nil, err
	}
	return all, claims.Validate(jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{audience}, Time: time.Now()})
}

// keySet reads a JWK set. It is small, and asked for each time: what has been withdrawn
// does not count.
func keySet(address string) (*jose.JSONWebKeySet, error) {
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}).Get(address)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var keys jose.JSONWebKeySet
	return &keys, json.NewDecoder(resp.Body).Decode(&keys)
}

// door stands before an agent and lets in who has a token of the agent's system. It
// keeps everything that knocks.
type door struct {
	issuer, audience string
	scope            string // that is needed beside; may be empty
	further          string // a header that may carry a second token, for paying

	mu     sync.Mutex
	jwks   string
	visits []visit
}

// visit is one request as it came, and who it was found to be from.
type visit struct {
	header         http.Header
	body           []byte
	who, paying    map[string]any // claims
	bearer, second string
}

// before is for gatewaytest.StartBehind.
func (d *door) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "broken off", http.StatusBadRequest)
			return
		}
		v := visit{header: r.Header.Clone(), body: body, second: r.Header.Get(d.further)}
		v.bearer = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		v.who, err = d.admit(v.bearer)
		if err == nil && v.second != "" {
			v.paying, err = d.admit(v.second)
		}
		d.mu.Lock()
		d.visits = append(d.visits, v)
		d.mu.Unlock()
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="elsewhere"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		insist(w, r, body, next)
	})
}

// insist hands a call on until it is taken: the Go SDKs' agents answer before they
// have put an execution away, and refuse to continue the task until they have.
func insist(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
	for {
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			next.ServeHTTP(w, r)
			return
		}
		kept := httptest.NewRecorder()
		next.ServeHTTP(kept, r)
		if strings.Contains(kept.Body.String(), "already in progress") {
			runtime.Gosched()
			continue
		}
		maps.Copy(w.Header(), kept.Header())
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes())
		return
	}
}

// admit says who a token is from, if it is good here.
func (d *door) admit(token string) (map[string]any, error) {
	d.mu.Lock()
	jwks, issuer := d.jwks, d.issuer
	d.mu.Unlock()
	claims, err := verified(token, jwks, issuer, d.audience)
	if err != nil {
		return nil, err
	}
	if scope, _ := claims["scope"].(string); d.scope != "" && !slices.Contains(strings.Fields(scope), d.scope) {
		return nil, errors.New("not permitted")
	}
	return claims, nil
}

// trust says whose tokens are good.
func (d *door) trust(issuer, jwks string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.issuer, d.jwks = issuer, jwks
}

// all are the visits so far.
func (d *door) all() []visit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.visits)
}

func (d *door) last() visit {
	all := d.all()
	return all[len(all)-1]
}

// pays reports whether the message with this id came with a token for paying.
func (d *door) pays(id string) bool {
	return slices.ContainsFunc(d.all(), func(v visit) bool {
		return v.paying != nil && bytes.Contains(v.body, []byte(id))
	})
}

// holds reports whether a secret is anywhere in what came.
func (d *door) holds(secret string) bool {
	return slices.ContainsFunc(d.all(), func(v visit) bool {
		for _, values := range v.header {
			if strings.Contains(strings.Join(values, "\n"), secret) {
				return true
			}
		}
		return bytes.Contains(v.body, []byte(secret))
	})
}
