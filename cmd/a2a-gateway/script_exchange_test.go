package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// exchange is the authorization server of another system. It exchanges tokens of the
// script's issuer, and those that the gateway signs, for its own (RFC 8693).
type exchange struct {
	w      *world
	home   string       // the script's issuer
	issuer *demo.Issuer // of its own tokens
	server *httptest.Server

	mu       sync.Mutex
	subjects map[string]string // who somebody elsewhere is here
	declines bool
	asked    []string
}

// cmdExchange starts the authorization server of another system, or changes it: exchange
// NAME [declines|agrees] [SUBJECT=SUBJECT-HERE]…. It sets $NAME, the issuer of its
// tokens, and $NAME_TOKENS, its token endpoint.
func cmdExchange(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if len(args) == 0 || w.issuer == nil {
		ts.Fatalf("usage: exchange NAME [declines|agrees] [SUBJECT=SUBJECT-HERE]…, after issuer")
	}
	name := args[0]
	x := w.systems[name]
	if x == nil {
		issuer, err := demo.NewIssuer(demo.IssuerOptions{})
		ts.Check(err)
		x = &exchange{w: w, home: w.issuer.URL, issuer: issuer, subjects: map[string]string{}}
		x.server = httptest.NewServer(x)
		w.systems[name] = x
		w.name(ts, envName(name), issuer.URL)
		w.name(ts, envName(name)+"_TOKENS", x.server.URL+"/token")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range args[1:] {
		if there, here, ok := strings.Cut(a, "="); ok {
			x.subjects[there] = here
		} else {
			x.declines = a == "declines"
		}
	}
}

// cmdAsked prints what has been asked of another system's authorization server since it
// was last asked, a line each: asked NAME.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	x := w.systems[args[0]]
	x.mu.Lock()
	all := x.asked
	x.asked = nil
	x.mu.Unlock()
	if len(all) == 0 {
		all = []string{"nothing"}
	}
	_, _ = io.WriteString(ts.Stdout(), w.steady(strings.Join(all, "\n")+"\n"))
}

func (x *exchange) close(ctx context.Context) {
	x.server.Close()
	_ = x.issuer.Close(ctx)
}

// ServeHTTP implements http.Handler: it is the token endpoint.
func (x *exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type refusal struct {
		Code string `json:"error"`
	}
	if id, secret, ok := r.BasicAuth(); !ok || id != "a2a-gateway" || secret != "exchange-secret" {
		reply(w, http.StatusUnauthorized, refusal{"invalid_client"})
		return
	}
	token, err := x.exchange(r)
	if err != nil {
		reply(w, http.StatusBadRequest, refusal{"invalid_grant"})
		return
	}
	reply(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": 300,
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
	})
}

func (x *exchange) exchange(r *http.Request) (string, error) {
	subject, err := x.verify(r.PostFormValue("subject_token"))
	if err != nil {
		return "", err
	}
	scope := r.PostFormValue("scope")
	line := fmt.Sprintf("for %v of %v, scope %q, audience %v", subject["sub"], subject["iss"], scope, r.PostForm["audience"])
	o := demo.IssueOptions{Audience: r.PostForm["audience"], Scopes: strings.Fields(scope), Client: "a2a-gateway"}
	if token := r.PostFormValue("actor_token"); token != "" {
		actor, err := x.verify(token)
		if err != nil {
			return "", err
		}
		line += fmt.Sprintf(", actor %v", actor["sub"])
		o.Claims = map[string]any{"act": map[string]any{"sub": actor["sub"], "iss": actor["iss"]}}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = append(x.asked, line)
	name, _ := subject["sub"].(string)
	if here := x.subjects[name]; here != "" {
		name = here
	}
	if x.declines {
		return "", errors.New("declined")
	}
	return x.issuer.Issue(name, o)
}

// verify checks a token of the script's issuer or of the gateway, by the keys that they
// publish.
func (x *exchange) verify(token string) (map[string]any, error) {
	if claims, err := x.w.opened(token, x.home+"/jwks"); err == nil {
		return claims, nil
	}
	return x.w.opened(token, x.w.at()+"/.well-known/jwks.json")
}

// opened gives the claims of a token that is signed by one of the keys at an address and
// has not expired.
func (w *world) opened(token, keys string) (map[string]any, error) {
	jws, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, keys, nil)
	if err != nil {
		return nil, err
	}
	if at := w.at(); at != "" && strings.HasPrefix(keys, at) {
		w.sent.Add(1)
	}
	resp, err := w.client.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() // only read from
	var set jose.JSONWebKeySet
	if err := json.UnmarshalRead(resp.Body, &set); err != nil {
		return nil, err
	}
	for _, k := range set.Key(jws.Signatures[0].Protected.KeyID) {
		payload, err := jws.Verify(k.Key)
		if err != nil {
			continue
		}
		var claims map[string]any
		if err := json.Unmarshal(payload, &claims); err != nil {
			return nil, err
		}
		if exp, _ := claims["exp"].(float64); time.Now().After(time.Unix(int64(exp), 0)) {
			return nil, errors.New("it has expired")
		}
		return claims, nil
	}
	return nil, fmt.Errorf("no key at %s has signed it", keys)
}

// cmdOpened prints the claims of the token in a header of the last request that reached a
// backend, verified by the JWK set at an address: opened NAME HEADER KEYS. Claims that are
// others each time (iat, nbf, exp, jti) are left out. Negated, it has to be signed by
// none of the keys.
func cmdOpened(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	if len(args) != 3 || w.backends[args[0]] == nil {
		ts.Fatalf("usage: opened NAME HEADER KEYS")
	}
	b := w.backends[args[0]]
	b.mu.Lock()
	value := b.last.Get(args[1])
	b.mu.Unlock()
	claims, err := w.opened(strings.TrimPrefix(value, "Bearer "), args[2])
	if neg {
		if err == nil {
			ts.Fatalf("the token is good")
		}
		return
	}
	ts.Check(err)
	for _, name := range []string{"iat", "nbf", "exp", "jti"} {
		delete(claims, name)
	}
	var out bytes.Buffer
	ts.Check(json.MarshalWrite(&out, claims, json.Deterministic(true), jsontext.WithIndent("  ")))
	out.WriteByte('\n')
	_, _ = io.WriteString(ts.Stdout(), w.steady(out.String()))
}
