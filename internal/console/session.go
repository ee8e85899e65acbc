package console

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
)

// Cookies, with __Host- before their names where there is TLS.
const (
	sessionCookie   = "a2a_gateway_admin"
	departureCookie = "a2a_gateway_login" // of a browser that is at the provider
)

// CallbackPath is where the provider sends browsers back to. It is registered there, so
// that it must not change.
const callbackPath = "/api/v1/login/callback"

// signIn is how browsers come in and go.
type signIn struct{ *access }

// signInScreen is that of whoever has not come in yet.
func signInScreen(a *access) api.Screen {
	s := &signIn{a}
	return api.Screen{
		Title: "sign-in", Shows: "sign in with a token, or at the identity provider if one is configured",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/login", ID: "login", Tag: "session", Summary: "Sign in at the identity provider",
				Params: []api.Param{{Name: "to", Text: "path on this listener to return to; default: /api/v1/session"}}, Status: http.StatusSeeOther,
				Errors: []api.Code{notFound, throttled, noProvider}, Answer: s.login,
			},
			{
				Method: http.MethodGet, Path: callbackPath, ID: "login-callback", Tag: "session", Loose: true,
				Summary: "Return from the identity provider", Status: http.StatusSeeOther,
				Errors: []api.Code{notFound, throttled, noProvider, loginFailed, forbidden, api.Unrecorded},
				Answer: s.callback,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/login", ID: "login-token", Tag: "session", Role: api.Viewer,
				Summary: "Begin a session with a token, so that scripts need not keep the token", Out: reflect.TypeFor[me](),
				Errors: []api.Code{api.Unrecorded}, Answer: s.loginToken,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/login/ways", ID: "login-ways", Tag: "session", Summary: "List the ways to sign in",
				Out: reflect.TypeFor[ways](), Answer: s.ways,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/logout", ID: "logout", Tag: "session", Role: api.Viewer, Summary: "End the session",
				Out: reflect.TypeFor[loggedOut](), Answer: s.logout,
			},
		},
	}
}

// ways is the answer of GET /api/v1/login/ways.
type ways struct {
	Token    bool `json:"token" doc:"sign-in by POST /api/v1/login with a token"`
	Provider bool `json:"provider" doc:"sign-in by GET /api/v1/login at the identity provider"`
}

// ways answers which ways in there are, for the page that asks for a credential.
func (s *signIn) ways(*api.Call) (any, error) {
	return ways{Token: true, Provider: s.provider != nil}, nil
}

// loggedOut is the answer of POST /api/v1/logout.
type loggedOut struct {
	Provider string `json:"provider,omitzero" doc:"URL to sign out at the identity provider as well"`
}

// login sends a browser to the provider. Each time counts as a failure until it was none:
// there is no other bound on what anybody may begin. The answer is a 303 to the provider,
// and a cookie with what is needed when the browser is back.
func (s *signIn) login(c *api.Call) (any, error) {
	if s.provider == nil {
		return nil, notFound.Refuse("nobody signs in here (admin.oidc.login)")
	}
	to := c.Query.Get("to")
	if to == "" {
		to = "/api/v1/session"
	}
	if !local(to) {
		return nil, c.InvalidParameter("to must be a path of this listener")
	}
	if err := s.blame(c.Request); err != nil {
		return nil, err
	}
	address, kept, err := s.provider.Begin(c.Context(), s.base(c.Request)+callbackPath, to)
	if err != nil {
		return nil, signing(c, err)
	}
	return reply{to: address, cookies: []*http.Cookie{s.cookie(c.Request, departureCookie, kept, login.Away)}}, nil
}

// callback takes a browser back that has signed in, and makes a session. One that it had
// before ends: nobody is to be signed in as somebody else without seeing it. The order
// matters: the role is looked at before a session is made, and the login is recorded before
// the browser gets its cookie.
func (s *signIn) callback(c *api.Call) (any, error) {
	if s.provider == nil {
		return nil, notFound.Refuse("nobody signs in here (admin.oidc.login)")
	}
	who, to, err := s.provider.Finish(c.Context(), s.kept(c.Request, departureCookie), c.Query)
	if err != nil {
		if limit := s.blame(c.Request); limit != nil {
			return nil, limit
		}
		return nil, signing(c, err)
	}
	c.Caller = api.Caller{Name: who.Subject + "@" + s.config.OIDC.Issuer, Role: s.config.OIDC.role(who.Claims), Method: methodSession}
	if err := welcome(&c.Caller); err != nil {
		return nil, err
	}
	_, cookie, err := s.begin(c, who)
	if err != nil {
		return nil, err
	}
	return reply{to: to, cookies: []*http.Cookie{s.cookie(c.Request, departureCookie, "", -1), cookie}}, nil
}

// loginToken makes a session of a token that was shown, which lasts no longer than it. A
// caller who has a session already gets that one: the request is repeated by pages that
// lost the answer.
func (s *signIn) loginToken(c *api.Call) (any, error) {
	if c.Caller.Session != nil {
		return s.me(c), nil
	}
	made, cookie, err := s.begin(c, login.Identity{Subject: c.Caller.Name, Local: true, Until: c.Caller.Expires})
	if err != nil {
		return nil, err
	}
	c.Caller.Method, c.Caller.Session, c.Caller.Expires = methodSession, made, made.Expires
	return reply{body: s.me(c), cookies: []*http.Cookie{cookie}}, nil
}

// begin makes a session for who, in the place of the one that the browser had. Without a
// record there is no session, unless admin may go on without the audit log (FailOpen). The
// id is a new one, whatever the browser had before (session fixation).
func (s *signIn) begin(c *api.Call, who login.Identity) (*login.Session, *http.Cookie, error) {
	attrs := c.By()
	attrs["role"] = string(c.Caller.Role)
	if err := c.Audit("admin.login", attrs); err != nil {
		c.Log.Error("write audit event", "error", err)
		if !c.FailOpen {
			return nil, nil, api.Unrecorded.Refuse("the login cannot be recorded, and is not made")
		}
	}
	s.sessions.End(s.kept(c.Request, sessionCookie))
	id, made := s.sessions.Begin(who, string(c.Caller.Role), time.Now())
	return &made, s.cookie(c.Request, sessionCookie, id, time.Until(made.Expires)), nil
}

// signing makes of what went wrong what may be said of it. The log has the reason, and the
// browser only whether it may help to try again.
func signing(c *api.Call, err error) error {
	c.Log.Warn("admin login", "error", err)
	if errors.Is(err, login.ErrUnavailable) {
		return noProvider.Refuse("the identity provider cannot be reached")
	}
	return loginFailed.Refuse("signing in came to nothing; GET /api/v1/login begins anew")
}

// logout ends the session of the request, deletes its cookie, and says where to be signed
// out at the identity provider. The provider's session would sign the next person at the
// browser in again.
func (s *signIn) logout(c *api.Call) (any, error) {
	if c.Caller.Session == nil {
		return loggedOut{}, nil // a token is good until it is not
	}
	s.sessions.End(c.Caller.Cookie)
	if err := c.Audit("admin.logout", c.By()); err != nil {
		c.Log.Error("write audit event", "error", err) // it has ended, and that is what counts
	}
	var out loggedOut
	if !c.Caller.Session.Who.Local {
		out.Provider = s.provider.Leave(c.Context(), c.Caller.Session.Who, s.base(c.Request)+"/")
	}
	return reply{
		body:    out,
		cookies: []*http.Cookie{s.cookie(c.Request, sessionCookie, "", -1)},
	}, nil
}

// local reports whether a browser that goes there stays at this listener. Browsers take a
// backslash for a slash, and two slashes for another host. Without that, a link to
// /api/v1/login?to=https://evil.example would send people who have just signed in to
// another site (open redirect).
func local(to string) bool {
	u, err := url.Parse(to)
	return err == nil && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\t\r\n") &&
		u.Scheme == "" && u.Host == "" && !strings.HasPrefix(u.Path, "//") && len(to) <= 1024
}

// base is the URL of this listener as browsers know it. The host is one that is served. The
// Host of the request was checked against the hosts of this listener.
func (a *access) base(r *http.Request) string {
	if a.config.PublicURL != "" {
		return strings.TrimRight(a.config.PublicURL, "/")
	}
	return a.config.scheme() + "://" + r.Host
}

// secure reports whether browsers come by TLS.
func (a *access) secure(r *http.Request) bool { return strings.HasPrefix(a.base(r), "https://") }

// cookie is one that no script reads and no other site brings along, but to look at a page.
// It has to come along then, as browsers do from the provider. SameSite=Lax is what says
// that. The prefix __Host- has browsers take it over TLS only, from this host only and for
// all paths. A life of 0 or less deletes it.
func (a *access) cookie(r *http.Request, name, value string, life time.Duration) *http.Cookie {
	if a.secure(r) {
		name = "__Host-" + name
	}
	age := -1
	if life > 0 {
		age = int(life.Seconds())
	}
	return &http.Cookie{ //nolint:gosec // Secure wherever it came by TLS; loopback has none
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: a.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// kept is the value of a cookie; "" for none, or several: one of them is not ours. A cookie
// of the same name can be set by another host of the same domain, where there is no
// __Host-.
func (a *access) kept(r *http.Request, name string) string {
	if a.secure(r) {
		name = "__Host-" + name
	}
	all := r.CookiesNamed(name)
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}
