package console

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// newIssuer is the development issuer.
func newIssuer(t *testing.T) *demo.Issuer {
	t.Helper()
	i, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close(context.Background()) })
	return i
}

// signsIn has people of the issuer sign in: carol as admin, alice as viewer, bob not at all.
func signsIn(issuer string) func(*Config) {
	return func(c *Config) {
		c.OIDC = &OIDC{
			Issuer: issuer, Audiences: []string{"a2a-gateway"},
			Roles: Roles{Viewer: []string{"finance", "operations"}, Admin: []string{"admins"}},
			Login: &login.Config{ClientID: demo.SignInClient},
		}
	}
}

// browser is somebody's, at a world.
type browser struct {
	*world
	client *http.Client
}

func (w *world) browser() browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	return browser{w, &http.Client{
		Jar: jar, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// do asks as a page of the listener would, with the cookies that there are.
func (b browser) do(method, address string, header map[string]string) answer {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.console.URL() + address
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	got := answer{resp.StatusCode, resp.Header, string(body)}
	if strings.HasPrefix(address, b.console.URL()) {
		b.conform(method, r.URL.Path, got)
	}
	return got
}

// leave begins to sign in, and returns where the browser is sent.
func (b browser) leave(to string) *url.URL {
	b.t.Helper()
	got := b.do("GET", "/api/v1/login?to="+url.QueryEscape(to), nil)
	at, err := url.Parse(got.header.Get("Location"))
	if err != nil || got.status != http.StatusSeeOther {
		b.t.Fatal(got, err)
	}
	return at
}

// agree has somebody sign in at the provider, and returns what brings the browser back.
func (b browser) agree(at *url.URL, name string) string {
	b.t.Helper()
	q := at.Query()
	q.Set("login_hint", name)
	at.RawQuery = q.Encode()
	got := b.do("GET", at.String(), nil)
	if got.status != http.StatusSeeOther {
		b.t.Fatal(got)
	}
	return got.header.Get("Location")
}

// signIn goes all the way.
func (b browser) signIn(name string) answer {
	b.t.Helper()
	return b.do("GET", b.agree(b.leave("/api/v1/agents"), name), map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
}

// me is who the gateway takes the browser for.
func (b browser) me() (m me) {
	b.t.Helper()
	got := b.do("GET", "/api/v1/session", nil)
	if err := json.Unmarshal([]byte(got.body), &m); err != nil || got.status != http.StatusOK {
		b.t.Fatal(got, err)
	}
	return m
}

// TestLogin: somebody signs in, is somebody of a role, changes something, and leaves.
func TestLogin(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t)
	w := newWorld(t, signsIn(issuer.URL))
	carol := w.browser()
	at := carol.leave("/")
	q := at.Query()
	if q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("state") == "" || q.Get("nonce") == "" ||
		q.Get("scope") != "openid profile" || q.Get("redirect_uri") != w.console.URL()+callbackPath {
		t.Errorf("sent to %s", at)
	}
	got := carol.signIn("carol")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/api/v1/agents" {
		t.Fatal(got)
	}
	for _, cookie := range got.header["Set-Cookie"] {
		if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Path=/;") {
			t.Errorf("cookie %s", cookie)
		}
	}
	m := carol.me()
	if m.Name != "carol@"+issuer.URL || m.Role != api.Admin || m.Method != methodSession || m.CSRF == "" || m.Expires.IsZero() {
		t.Errorf("%+v", m)
	}
	if got := carol.do("DELETE", "/api/v1/agents/a-1", map[string]string{"X-CSRF-Token": m.CSRF}); got.status != http.StatusOK {
		t.Error(got)
	}
	got = carol.do("POST", "/api/v1/logout", map[string]string{"X-CSRF-Token": m.CSRF})
	var out loggedOut
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || !strings.HasPrefix(out.Provider, issuer.URL+"/logout?") ||
		!strings.Contains(out.Provider, "id_token_hint=") || !strings.Contains(out.Provider, "post_logout_redirect_uri=") {
		t.Error(got, err)
	}
	if got := carol.do("GET", "/api/v1/session", nil); got.status != http.StatusUnauthorized {
		t.Errorf("after leaving: %s", got)
	}
	who := "carol@" + issuer.URL
	want := []map[string]string{
		{"event": "admin.login", "who": who, "client_ip": "127.0.0.1", "role": "admin"},
		{"event": "agent.removed", "who": who, "client_ip": "127.0.0.1", "agent": "a-1"},
		{"event": "admin.logout", "who": who, "client_ip": "127.0.0.1"},
	}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestL43_SessionsAreNotEnough: what a cookie proves, any page of the browser could have
// sent. Changes show what only a page of this listener can have read.
func TestL43_SessionsAreNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, signsIn(newIssuer(t).URL))
	carol := w.browser()
	carol.signIn("carol")
	csrf := carol.me().CSRF
	for name, tt := range map[string]struct {
		method string
		header map[string]string
		status int
		holds  string
	}{
		"no header":          {"DELETE", nil, 403, "CSRF_TOKEN"},
		"a wrong one":        {"DELETE", map[string]string{"X-CSRF-Token": csrf + "x"}, 403, "CSRF_TOKEN"},
		"another site":       {"DELETE", map[string]string{"X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"}, 403, "CROSS_ORIGIN"},
		"another port":       {"DELETE", map[string]string{"X-CSRF-Token": csrf, "Sec-Fetch-Site": "same-site"}, 403, "CROSS_ORIGIN"},
		"an old browser":     {"DELETE", map[string]string{"X-CSRF-Token": csrf, "Sec-Fetch-Site": "", "Origin": "https://evil.example"}, 403, "CROSS_ORIGIN"},
		"reads from a site":  {"GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, "CROSS_ORIGIN"},
		"a link on a site":   {"GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200, "a-1"},
		"its own page":       {"GET", nil, 200, "a-1"},
		"a token beside it":  {"GET", map[string]string{"Authorization": "Bearer canary-wrong"}, 401, "UNAUTHENTICATED"},
		"not a browser":      {"GET", map[string]string{"Sec-Fetch-Site": ""}, 200, "a-1"},
		"a change, by a GET": {"POST", nil, 405, "METHOD"},
	} {
		if tt.status == 405 {
			tt.header = map[string]string{"X-CSRF-Token": csrf}
		}
		if got := carol.do(tt.method, "/api/v1/agents/a-1", tt.header); got.status != tt.status || !strings.Contains(got.body, tt.holds) {
			t.Errorf("%s: %s, want %d %s", name, got, tt.status, tt.holds)
		}
	}
	events := map[string]string{"Accept": "text/event-stream", "Content-Type": "application/json"}
	if got := carol.do("POST", "/api/v1/try", events); got.status != 403 || !strings.Contains(got.body, "CSRF_TOKEN") {
		t.Errorf("a call whose answer is a stream: %s", got)
	}
	if len(w.fleet) != 1 || w.tries.asked != nil {
		t.Error("something was changed")
	}
}

// TestL43_LoginsAreBound: what comes back is good in the browser that left, once, and for
// who it says; nobody comes in by half of it.
func TestL43_LoginsAreBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, signsIn(newIssuer(t).URL))
	status := func(b browser, back string) int { return b.do("GET", back, nil).status }
	carol, mallory := w.browser(), w.browser()
	back := mallory.agree(mallory.leave("/"), "carol")
	if got := status(carol, back); got != http.StatusForbidden {
		t.Errorf("in a browser that never left: %d", got)
	}
	carol.leave("/")
	if got := status(carol, back); got != http.StatusForbidden {
		t.Errorf("in another browser: %d", got)
	}
	b := w.browser()
	back = b.agree(b.leave("/"), "carol")
	change := func(name, value string) string {
		u, err := url.Parse(back)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	for _, changed := range []string{change("state", "x"), change("state", ""), change("iss", "https://evil.example"), change("error", "access_denied")} {
		if got := status(b, changed); got != http.StatusForbidden {
			t.Errorf("%s: %d", changed, got)
		}
	}
	if got := status(b, back); got != http.StatusSeeOther {
		t.Errorf("nothing was changed, and yet: %d", got)
	}
	if got := status(b, back); got != http.StatusForbidden {
		t.Errorf("a second time: %d", got)
	}
	if got := w.browser().signIn("bob"); got.status != http.StatusForbidden || !strings.Contains(got.body, "FORBIDDEN") || got.header["Set-Cookie"] != nil {
		t.Errorf("somebody without a role: %s", got)
	}
	for _, to := range []string{"//evil.example", `/\evil.example`, "https://evil.example", "evil", "/\t/evil.example", `\/evil`} {
		if got := w.browser().do("GET", "/api/v1/login?to="+url.QueryEscape(to), nil); got.status != http.StatusBadRequest {
			t.Errorf("to %q: %s", to, got)
		}
	}
}

// TestSessionsEnd: a session ends when nothing was asked for long, and at its time; a new
// login ends the one before, and has another id.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) {
		signsIn("http://127.0.0.1:1")(c)
		c.OIDC.Login.Idle, c.OIDC.Login.Life, c.OIDC.Login.Sessions = quantity.Duration(time.Hour), quantity.Duration(3*time.Hour), 2
	})
	s, now := w.console.access.sessions, time.Now()
	first, _ := s.Begin(login.Identity{Subject: "a"}, "viewer", now)
	for hour, want := range []bool{true, true, true, false} {
		at := now.Add(time.Duration(hour) * 59 * time.Minute)
		if hour == 3 {
			at = now.Add(3 * time.Hour)
		}
		if _, ok := s.Find(first, at); ok != want {
			t.Errorf("after %v: %v", at.Sub(now), ok)
		}
	}
	idle, _ := s.Begin(login.Identity{Subject: "b"}, "viewer", now)
	if _, ok := s.Find(idle, now.Add(time.Hour)); ok {
		t.Error("an hour without a question")
	}
	var ids []string
	for n := range 3 {
		id, _ := s.Begin(login.Identity{Subject: "c"}, "viewer", now.Add(time.Duration(n)*time.Minute))
		ids = append(ids, id)
	}
	for i, want := range []bool{false, true, true} {
		if _, ok := s.Find(ids[i], now.Add(4*time.Minute)); ok != want {
			t.Errorf("session %d of three where two may be: %v", i, ok)
		}
	}
}

// TestLoginRotates: who signs in again has another session, and the one before is over.
func TestLoginRotates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, signsIn(newIssuer(t).URL))
	b := w.browser()
	b.signIn("carol")
	at, _ := url.Parse(w.console.URL())
	before := b.client.Jar.Cookies(at)
	b.signIn("alice")
	if m := b.me(); !strings.HasPrefix(m.Name, "alice@") || m.Role != api.Viewer {
		t.Errorf("%+v", m)
	}
	old := w.browser()
	old.client.Jar.SetCookies(at, before)
	if got := old.do("GET", "/api/v1/session", nil); got.status != http.StatusUnauthorized {
		t.Errorf("the session before: %s", got)
	}
}

// TestAccessTokens: tokens of the provider come in with the role of their claim, and what is
// no good token of its does not.
func TestAccessTokens(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t)
	w := newWorld(t, signsIn(issuer.URL))
	for name, tt := range map[string]struct {
		o      demo.IssueOptions
		status int
		holds  string
	}{
		"an admin":         {demo.IssueOptions{Groups: []string{"operations", "admins"}}, 200, `"role":"admin","method":"oidc"`},
		"a viewer":         {demo.IssueOptions{Groups: []string{"finance"}}, 200, `"role":"viewer"`},
		"no role":          {demo.IssueOptions{Groups: []string{"support"}}, 403, "FORBIDDEN"},
		"no groups":        {demo.IssueOptions{}, 403, "FORBIDDEN"},
		"another audience": {demo.IssueOptions{Groups: []string{"admins"}, Audience: []string{"other"}}, 401, "UNAUTHENTICATED"},
		"expired":          {demo.IssueOptions{Groups: []string{"admins"}, TTL: -time.Hour}, 401, "UNAUTHENTICATED"},
		"forged":           {demo.IssueOptions{Groups: []string{"admins"}, ForeignKey: true}, 401, "UNAUTHENTICATED"},
	} {
		token, err := issuer.Issue("x", tt.o)
		if err != nil {
			t.Fatal(err)
		}
		got := w.ask("GET", "/api/v1/session", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
		if got.status != tt.status || !strings.Contains(got.body, tt.holds) {
			t.Errorf("%s: %s, want %d %s", name, got, tt.status, tt.holds)
		}
	}
}

// TestProviderIsAway: nobody comes in while nobody can be asked, and the token does.
func TestProviderIsAway(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t)
	token, err := issuer.Issue("x", demo.IssueOptions{Groups: []string{"admins"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = issuer.Close(context.Background())
	w := newWorld(t, signsIn(issuer.URL))
	if got := w.browser().do("GET", "/api/v1/login", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
	got := w.ask("GET", "/api/v1/session", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "PROVIDER_UNAVAILABLE") {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/session", nil); got.status != http.StatusOK {
		t.Error(got)
	}
}

// TestL43_LoginsAreThrottled: beginning to sign in costs the provider something.
func TestL43_LoginsAreThrottled(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t)
	w := newWorld(t, func(c *Config) {
		signsIn(issuer.URL)(c)
		c.Failures = Failures{PerMinute: 1, Burst: 2}
	})
	for n, want := range []int{303, 303, 429} {
		if got := w.browser().do("GET", "/api/v1/login", nil); got.status != want {
			t.Errorf("%d: %s, want %d", n, got, want)
		}
	}
}

// TestRoles: the claim is found by its name or by a path, and is a text or several.
func TestRoles(t *testing.T) {
	t.Parallel()
	o := OIDC{Claim: "realm.roles", Roles: Roles{Viewer: []string{"v"}, Operator: []string{"o"}, Admin: []string{"a"}}}
	for claims, want := range map[string]api.Role{
		`{"realm":{"roles":["x","v"]}}`:             api.Viewer,
		`{"realm":{"roles":["v","a","o"]}}`:         api.Admin,
		`{"realm":{"roles":"o"}}`:                   api.Operator,
		`{"realm.roles":["a"]}`:                     api.Admin,
		`{"realm":{"roles":[1,{"a":1}]}}`:           nobody,
		`{"realm":["a"]}`:                           nobody,
		`{"roles":["a"]}`:                           nobody,
		`{"realm.roles":"x","realm":{"roles":"a"}}`: nobody,
	} {
		var m map[string]any
		if err := json.Unmarshal([]byte(claims), &m); err != nil {
			t.Fatal(err)
		}
		if got := o.role(m); got != want {
			t.Errorf("%s: %q, want %q", claims, got, want)
		}
	}
}
