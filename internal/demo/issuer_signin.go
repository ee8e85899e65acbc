package demo

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// SignInClient is the public client that browsers sign in with: authorization code and
// PKCE (RFC 7636, S256), back to loopback addresses only.
const SignInClient = "console"

const (
	// codeLife is how long an authorization code can be redeemed; RFC 6749 §4.1.2 has ten minutes
	// as the most.
	codeLife = time.Minute
	// mostCodes bounds those that nobody redeems.
	mostCodes = 1000
)

// code is what was agreed to, until it is redeemed.
type code struct {
	user      User
	redirect  string    // redirect_uri, which has to be the same at the token endpoint
	challenge string    // code_challenge: base64url of the SHA-256 of the verifier (RFC 7636 §4.2)
	nonce     string    // of the client's, for the ID token
	until     time.Time // when it runs out
}

// authorize is the authorization endpoint (RFC 6749 §4.1.1). Whom login_hint names is
// signed in at once; without one there is a page to choose on.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	redirect, err := url.Parse(q.Get("redirect_uri"))
	// An error page and no redirect: nobody is sent to an address that is not trusted (RFC 6749
	// §4.1.2.1).
	if err != nil || !loopback(redirect) || q.Get("client_id") != SignInClient {
		http.Error(w, "unknown client, or a redirect_uri that is not on this machine", http.StatusBadRequest)
		return
	}
	// Without PKCE a code that is caught on its way could be redeemed by whoever caught it.
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		i.back(w, r, redirect, url.Values{"error": {"invalid_request"}})
		return
	}
	for _, u := range i.options.Users {
		if u.Name == q.Get("login_hint") {
			i.back(w, r, redirect, url.Values{"code": {i.keep(u, q)}})
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, i.choice(q)) //nolint:gosec // it escapes what is the client's
}

// choice is the page on which a browser says who it is. There is nothing to prove: this
// is for development.
//
// It is put together by hand: html/template calls methods by name, which has the linker keep every
// exported method of the whole program.
func (i *Issuer) choice(q url.Values) string {
	page := "<!doctype html><title>Development issuer</title>\n<h1>Who are you?</h1><ul>"
	for _, u := range i.options.Users {
		q.Set("login_hint", u.Name)
		to := html.EscapeString("/authorize?" + q.Encode())
		page += `<li><a href="` + to + `">` + html.EscapeString(u.Name) + `</a></li>`
	}
	return page + "</ul>"
}

// back sends a browser back, with state and issuer (RFC 9207).
func (i *Issuer) back(w http.ResponseWriter, r *http.Request, redirect *url.URL, more url.Values) {
	// A copy, with the parameters that were there before.
	u := *redirect
	q := u.Query()
	for name := range more {
		q.Set(name, more.Get(name))
	}
	q.Set("state", r.URL.Query().Get("state"))
	q.Set("iss", i.URL)
	u.RawQuery = q.Encode()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", u.String())
	w.WriteHeader(http.StatusSeeOther)
}

// loopback reports whether a URL leads to this machine: localhost, 127.0.0.0/8, ::1.
func loopback(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return (u.Scheme == "http" || u.Scheme == "https") && u.User == nil &&
		(u.Hostname() == "localhost" || err == nil && addr.Unmap().IsLoopback())
}

// keep makes a code for a user who was chosen. With too many all are forgotten: clients begin again.
func (i *Issuer) keep(u User, q url.Values) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.codes) >= mostCodes {
		clear(i.codes)
	}
	id := rand.Text()
	i.codes[id] = code{u, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), time.Now().Add(codeLife)}
	return id
}

// redeem answers with tokens for a code, which is good once.
func (i *Issuer) redeem(w http.ResponseWriter, form url.Values) {
	i.mu.Lock()
	// Found and deleted under one lock: of two who bring the same code one gets tokens.
	c, ok := i.codes[form.Get("code")]
	delete(i.codes, form.Get("code"))
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || time.Now().After(c.until) || form.Get("client_id") != SignInClient || form.Get("redirect_uri") != c.redirect ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != strings.TrimRight(c.challenge, "=") {
		answer(w, http.StatusBadRequest, tokenError{"invalid_grant", ""})
		return
	}
	id, err := i.Issue(c.user.Name, IssueOptions{
		Audience: []string{SignInClient}, Groups: c.user.Groups, Tenant: c.user.Tenant, Type: "JWT", Client: SignInClient,
		Claims: map[string]any{"nonce": c.nonce, "azp": SignInClient},
	})
	access, failed := i.Issue(c.user.Name, IssueOptions{Scopes: c.user.Scopes, Groups: c.user.Groups, Client: SignInClient})
	if err != nil || failed != nil {
		answer(w, http.StatusInternalServerError, tokenError{"server_error", ""})
		return
	}
	answer(w, http.StatusOK, tokenAnswer{
		Token: access, Type: "Bearer", Expires: int64(i.options.TTL.Seconds()), ID: id,
	})
}

// endSession is where a client sends a browser that signs out (OpenID Connect RP-Initiated
// Logout 1.0). Nobody is signed in here for longer than a moment.
func (i *Issuer) endSession(w http.ResponseWriter, r *http.Request) {
	back, err := url.Parse(r.URL.Query().Get("post_logout_redirect_uri"))
	if err != nil || !loopback(back) {
		_, _ = w.Write([]byte("You are signed out.\n"))
		return
	}
	w.Header().Set("Location", back.String())
	w.WriteHeader(http.StatusSeeOther)
}
