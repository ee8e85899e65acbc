package console

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
)

// Cookies, with __Host- before their names where there is TLS.
const (
	sessionCookie   = "a2a_gateway_admin"
	departureCookie = "a2a_gateway_login" // of a browser that is at the provider
)

const callbackPath = "/api/v1/login/callback"

// loginOperations are how browsers come in and go.
var loginOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/login", id: "login", tag: "session", summary: "Sign in at the identity provider",
		params: []param{{name: "to", text: "a path of this listener to come back to; /api/v1/session unless set"}}, status: http.StatusSeeOther,
		errors: []string{codeNotFound, codeThrottled, codeProvider}, answer: (*Console).login,
	},
	{
		method: http.MethodGet, path: callbackPath, id: "login-callback", tag: "session", loose: true,
		summary: "Come back from the identity provider", status: http.StatusSeeOther,
		errors: []string{codeNotFound, codeThrottled, codeProvider, codeLogin, codeForbidden, codeUnrecorded},
		answer: (*Console).callback,
	},
	{
		method: http.MethodPost, path: "/api/v1/login", id: "login-token", tag: "session", role: Viewer,
		summary: "Begin a session with a token, so that no script of a page has to keep it", out: reflect.TypeFor[Me](),
		errors: []string{codeUnrecorded}, answer: (*Console).loginToken,
	},
	{
		method: http.MethodGet, path: "/api/v1/login/ways", id: "login-ways", tag: "session", summary: "How one can sign in here",
		out: reflect.TypeFor[Ways](), answer: (*Console).ways,
	},
	{
		method: http.MethodPost, path: "/api/v1/logout", id: "logout", tag: "session", role: Viewer, summary: "End the session",
		out: reflect.TypeFor[LoggedOut](), answer: (*Console).logout,
	},
}

// Ways is the answer of GET /api/v1/login/ways.
type Ways struct {
	Token    bool `json:"token" doc:"by POST /api/v1/login with a token"`
	Provider bool `json:"provider" doc:"by GET /api/v1/login, at the identity provider"`
}

func (s *Console) ways(*call) (any, error) {
	return Ways{Token: true, Provider: s.provider != nil}, nil
}

// LoggedOut is the answer of POST /api/v1/logout.
type LoggedOut struct {
	Provider string `json:"provider,omitzero" doc:"where to go to be signed out at the identity provider as well"`
}

// login sends a browser to the provider. Each time counts as a failure until it was none:
// there is no other bound on what anybody may begin.
func (s *Console) login(c *call) (any, error) {
	if s.provider == nil {
		return nil, refuse(codeNotFound, "nobody signs in here (admin.oidc.login)")
	}
	to := c.query.Get("to")
	if to == "" {
		to = "/api/v1/session"
	}
	if !local(to) {
		return nil, parameter("to must be a path of this listener")
	}
	if err := s.blame(c.Request); err != nil {
		return nil, err
	}
	address, kept, err := s.provider.Begin(c.Context(), s.base(c.Request)+callbackPath, to)
	if err != nil {
		return nil, s.signing(err)
	}
	return reply{to: address, cookies: []*http.Cookie{s.cookie(c.Request, departureCookie, kept, login.Away)}}, nil
}

// callback takes a browser back that has signed in, and makes a session. One that it had
// before ends: nobody is to be signed in as somebody else without seeing it.
func (s *Console) callback(c *call) (any, error) {
	if s.provider == nil {
		return nil, refuse(codeNotFound, "nobody signs in here (admin.oidc.login)")
	}
	who, to, err := s.provider.Finish(c.Context(), s.kept(c.Request, departureCookie), c.query)
	if err != nil {
		if limit := s.blame(c.Request); limit != nil {
			return nil, limit
		}
		return nil, s.signing(err)
	}
	c.who = caller{name: who.Subject + "@" + s.config.OIDC.Issuer, role: s.config.OIDC.role(who.Claims), method: methodSession}
	if err := c.who.welcome(); err != nil {
		return nil, err
	}
	_, cookie, err := s.begin(c, who)
	if err != nil {
		return nil, err
	}
	return reply{to: to, cookies: []*http.Cookie{s.cookie(c.Request, departureCookie, "", -1), cookie}}, nil
}

// loginToken makes a session of a token that was shown, which lasts no longer than it.
func (s *Console) loginToken(c *call) (any, error) {
	if c.who.session != nil {
		return s.me(c)
	}
	made, cookie, err := s.begin(c, login.Identity{Subject: c.who.name, Local: true, Until: c.who.expires})
	if err != nil {
		return nil, err
	}
	c.who.method, c.who.session, c.who.expires = methodSession, made, made.Expires
	me, err := s.me(c)
	return reply{body: me, cookies: []*http.Cookie{cookie}}, err
}

// begin makes a session for who, in the place of the one that the browser had.
func (s *Console) begin(c *call, who login.Identity) (*login.Session, *http.Cookie, error) {
	attrs := c.by()
	attrs["role"] = string(c.who.role)
	if err := s.Audit("admin.login", attrs); err != nil {
		s.Log.Error("write audit event", "error", err)
		if !s.FailOpen {
			return nil, nil, refuse(codeUnrecorded, "the login cannot be recorded, and is not made")
		}
	}
	s.sessions.End(s.kept(c.Request, sessionCookie))
	id, made := s.sessions.Begin(who, string(c.who.role), time.Now())
	return &made, s.cookie(c.Request, sessionCookie, id, time.Until(made.Expires)), nil
}

// signing makes of what went wrong what may be said of it.
func (s *Console) signing(err error) error {
	s.Log.Warn("admin login", "error", err)
	if errors.Is(err, login.ErrUnavailable) {
		return refuse(codeProvider, "the identity provider cannot be reached")
	}
	return refuse(codeLogin, "signing in came to nothing; GET /api/v1/login begins anew")
}

func (s *Console) logout(c *call) (any, error) {
	if c.who.session == nil {
		return LoggedOut{}, nil // a token is good until it is not
	}
	s.sessions.End(c.who.cookie)
	if err := s.Audit("admin.logout", c.by()); err != nil {
		s.Log.Error("write audit event", "error", err) // it has ended, and that is what counts
	}
	var out LoggedOut
	if !c.who.session.Who.Local {
		out.Provider = s.provider.Leave(c.Context(), c.who.session.Who, s.base(c.Request)+"/")
	}
	return reply{
		body:    out,
		cookies: []*http.Cookie{s.cookie(c.Request, sessionCookie, "", -1)},
	}, nil
}

// bySession knows a browser that has signed in.
func (s *Console) bySession(r *http.Request, now time.Time) (caller, bool) {
	id := s.kept(r, sessionCookie)
	if id == "" || s.sessions == nil {
		return caller{}, false
	}
	session, ok := s.sessions.Find(id, now)
	if !ok {
		return caller{}, false
	}
	name := session.Who.Subject
	if !session.Who.Local {
		name += "@" + s.config.OIDC.Issuer
	}
	return caller{
		name: name, role: Role(session.Role), method: methodSession,
		expires: session.Expires, label: label(session.Who.Claims), session: &session, cookie: id,
	}, true
}

// local reports whether a browser that goes there stays at this listener. Browsers take a
// backslash for a slash, and two slashes for another host.
func local(to string) bool {
	u, err := url.Parse(to)
	return err == nil && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\t\r\n") &&
		u.Scheme == "" && u.Host == "" && !strings.HasPrefix(u.Path, "//") && len(to) <= 1024
}

// base is the URL of this listener as browsers know it. The host is one that is served.
func (s *Console) base(r *http.Request) string {
	if s.config.PublicURL != "" {
		return strings.TrimRight(s.config.PublicURL, "/")
	}
	return s.scheme() + "://" + r.Host
}

// secure reports whether browsers come by TLS.
func (s *Console) secure(r *http.Request) bool { return strings.HasPrefix(s.base(r), "https://") }

// cookie is one that no script reads and no other site brings along, but to look at a page.
// It has to come along then, as browsers do from the provider.
func (s *Console) cookie(r *http.Request, name, value string, life time.Duration) *http.Cookie {
	if s.secure(r) {
		name = "__Host-" + name
	}
	age := -1
	if life > 0 {
		age = int(life.Seconds())
	}
	return &http.Cookie{ //nolint:gosec // Secure wherever it came by TLS; loopback has none
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: s.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// kept is the value of a cookie; "" for none, or several: one of them is not ours.
func (s *Console) kept(r *http.Request, name string) string {
	if s.secure(r) {
		name = "__Host-" + name
	}
	all := r.CookiesNamed(name)
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}
