package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// cmdIssuer starts a token issuer that knows alice (finance), bob (support) and carol
// (operations, admins). It sets $ISSUER, and $INTROSPECTION to where it is asked about
// its tokens. "issuer down" starts one and ends it: its tokens exist, its keys cannot be
// had. "issuer url=URL" is known by another URL than it has; it is at $ISSUER_AT.
func cmdIssuer(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	o := demo.IssuerOptions{}
	if len(args) > 0 {
		o.URL, _ = strings.CutPrefix(args[0], "url=")
		if o.URL == args[0] {
			o.URL = ""
		}
	}
	i, err := demo.NewIssuer(o)
	ts.Check(err)
	w.issuer = i
	w.name(ts, "ISSUER_AT", "http://"+i.Addr())
	w.name(ts, "ISSUER", i.URL)
	w.asking = newIntrospection()
	w.name(ts, "INTROSPECTION", w.asking.server.URL)
	if len(args) > 0 && args[0] == "down" {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ts.Check(i.Close(ctx))
	}
}

// cmdRotate has the issuer sign with another key from now on. The one before stays
// published, older ones do not.
func cmdRotate(ts *testscript.TestScript, neg bool, _ []string) {
	noNeg(ts, neg)
	ts.Check(worldOf(ts).issuer.Rotate())
}

// cmdRevoke has the issuer say of a token that it is not active any more: revoke NAME.
func cmdRevoke(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	w.asking.mu.Lock()
	defer w.asking.mu.Unlock()
	delete(w.asking.active, ts.Getenv(envName(args[0])))
}

// cmdJWKS publishes a key set made of FILE, where the text "issuer" in its keys stands for the
// issuer's own: jwks FILE. It sets $JWKS; again with another file changes the set.
func cmdJWKS(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if w.issuer == nil || len(args) != 1 {
		ts.Fatalf("usage: jwks FILE, after issuer")
	}
	if w.published == nil {
		w.published = new(atomic.Pointer[string])
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			own, err := published(r.Context(), w.issuer.URL+"/jwks")
			if err != nil {
				http.Error(rw, err.Error(), http.StatusBadGateway)
				return
			}
			rw.Header().Set("Cache-Control", "max-age=30")
			_, _ = io.WriteString(rw, strings.ReplaceAll(*w.published.Load(), `"issuer"`, own))
		}))
		ts.Defer(server.Close)
		w.name(ts, "JWKS", server.URL)
	}
	set := ts.ReadFile(args[0])
	w.published.Store(&set)
}

// published is the keys of a set, as they stand in its list.
func published(ctx context.Context, address string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var set struct {
		Keys jsontext.Value `json:"keys"`
	}
	if err := json.UnmarshalRead(answer.Body, &set); err != nil {
		return "", err
	}
	return strings.Trim(string(set.Keys), "[]"), nil
}

// wanted is a token that a script asks for.
type wanted struct {
	demo.IssueOptions

	name   string // of the variable
	opaque bool
}

// cmdToken makes tokens: token USER [WORD|NAME=VALUE]…, see testdata/README.md. It sets
// $USER, or the variable of as=NAME.
func cmdToken(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if w.issuer == nil || len(args) == 0 {
		ts.Fatalf("usage: token USER […], after issuer")
	}
	want := wanted{name: envName(args[0])}
	want.Claims = map[string]any{}
	for _, u := range demo.DemoUsers() {
		if u.Name == args[0] {
			want.Groups, want.Scopes, want.Tenant = u.Groups, u.Scopes, u.Tenant
		}
	}
	for _, a := range args[1:] {
		if !want.option(a) && !want.claim(ts, a) && !want.bind(ts, a) {
			ts.Fatalf("token: %q is not understood", a)
		}
	}
	token, err := w.issuer.Issue(args[0], want.IssueOptions)
	ts.Check(err)
	claims := unverified(ts, token)
	if want.opaque {
		token = rand.Text() + rand.Text()
	}
	w.asking.know(token, claims)
	w.name(ts, want.name, token)
}

// option takes what the issuer itself knows.
func (t *wanted) option(word string) bool {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "expired":
		t.TTL = -time.Hour
	case "wrong-audience":
		t.Audience = []string{"somewhere-else"}
	case "forged":
		t.ForeignKey = true
	case "opaque":
		t.opaque = true
	case "scope":
		t.Scopes = strings.Split(value, ",")
	case "group":
		t.Groups = strings.Split(value, ",")
	case "groups": // so many, as directories name them
		n, err := strconv.Atoi(value)
		if err != nil {
			return false
		}
		for i := range n {
			t.Groups = append(t.Groups, fmt.Sprintf("3f2504e0-4f89-11d3-9a0c-%012d", i))
		}
	case "tenant":
		t.Tenant = value
	case "client":
		t.Client = value
	case "as":
		t.name = value
	default:
		return false
	}
	return true
}

// claim takes what a token says of the user's authentication, of who acts for the user,
// and anything else.
func (t *wanted) claim(ts *testscript.TestScript, word string) bool {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "acr":
		t.Claims["acr"] = value
	case "amr":
		t.Claims["amr"] = strings.Split(value, ",")
	case "auth_time":
		ago, err := time.ParseDuration(value)
		ts.Check(err)
		t.Claims["auth_time"] = time.Now().Add(-ago).Unix()
	case "act": // the one who called first, then whom it acted for
		var act map[string]any
		all := strings.Split(value, ",")
		for i := len(all) - 1; i >= 0; i-- {
			next := map[string]any{"sub": all[i]}
			if act != nil {
				next["act"] = act
			}
			act = next
		}
		t.Claims["act"] = act
	default:
		name, ok := strings.CutPrefix(key, "claim.")
		if ok {
			t.Claims[name] = value
		}
		return ok
	}
	return true
}

// bind takes what a token is bound to: a key that proofs are made with, or a client
// certificate.
func (t *wanted) bind(ts *testscript.TestScript, word string) bool {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "dpop":
		t.Claims["cnf"] = map[string]any{"jkt": worldOf(ts).proofKey(ts, value).thumbprint(ts)}
	case "certificate":
		sum := sha256.Sum256(clientCertificate(ts, value).Certificate[0])
		t.Claims["cnf"] = map[string]any{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}
	default:
		return false
	}
	return true
}

// unverified reads what a token says without looking at its signature.
func unverified(ts *testscript.TestScript, token string) map[string]any {
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	ts.Check(err)
	var claims map[string]any
	ts.Check(json.Unmarshal(payload, &claims))
	return claims
}

// introspection answers what the issuer knows of a token (RFC 7662).
type introspection struct {
	server *httptest.Server

	mu     sync.Mutex
	active map[string]map[string]any // claims by token
}

func newIntrospection() *introspection {
	i := &introspection{active: map[string]map[string]any{}}
	i.server = httptest.NewServer(i)
	return i
}

func (i *introspection) know(token string, claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	claims["active"] = true
	i.active[token] = claims
}

// ServeHTTP implements http.Handler.
func (i *introspection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if id, secret, ok := r.BasicAuth(); !ok || id != "a2a-gateway" || secret != "introspection-secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	claims := i.active[r.PostFormValue("token")]
	if claims == nil {
		claims = map[string]any{"active": false}
	}
	reply(w, http.StatusOK, claims)
}

// reply writes v as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
