package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
)

// caller is who asks, as far as a credential says.
type caller struct {
	name    string // in records
	role    Role
	method  string // how it was proved
	expires time.Time
	label   string // for people; "" for none
	session *login.Session
	cookie  string // its id
}

// How a caller is proved.
const (
	methodToken   = "token"   // of this API
	methodOIDC    = "oidc"    // token of the identity provider
	methodSession = "session" // having signed in there
)

// adminToken is who asks with the token of the admin API.
const adminToken = "admin-token"

// identify finds out who asks.
func (s *Console) identify(r *http.Request) (caller, error) {
	if r.Header["Authorization"] == nil {
		if who, ok := s.bySession(r, time.Now()); ok {
			return who, nil
		}
		return caller{}, s.unauthenticated(r)
	}
	if token, ok := bearer(r); ok {
		if who, ok := s.byToken(token, time.Now()); ok {
			return who, nil
		}
	}
	if s.chain == nil {
		return caller{}, s.unauthenticated(r)
	}
	p, err := s.chain.Authenticate(r)
	switch {
	case errors.Is(err, authn.ErrUnavailable):
		s.Log.Warn("admin request", "error", err)
		return caller{}, refuse(codeProvider, "the identity provider cannot be reached")
	case err != nil:
		return caller{}, s.unauthenticated(r)
	}
	who := caller{name: p.String(), role: s.config.OIDC.role(p.Claims), method: methodOIDC, expires: p.Expires, label: label(p.Claims)}
	return who, who.welcome()
}

// welcome is an error for somebody who is known, and has no role.
func (c *caller) welcome() error {
	if c.role == nobody {
		return &refusal{code: codeForbidden, message: "you have no role here (admin.oidc.roles)", needs: Viewer}
	}
	return nil
}

// unauthenticated is the answer to whoever did not prove anything. An address may guess
// now and then.
func (s *Console) unauthenticated(r *http.Request) error {
	if r.Header["Authorization"] != nil {
		if err := s.blame(r); err != nil {
			return err
		}
	}
	return &refusal{
		code: codeUnauthenticated, message: "a credential for the admin API is missing or wrong",
		header: http.Header{"Www-Authenticate": {`Bearer realm="admin"`}},
	}
}

// bearer is the token that a request shows.
func bearer(r *http.Request) (string, bool) {
	shown := r.Header["Authorization"]
	if len(shown) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(shown[0], " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// byToken knows the token of the API and those of the configuration. Digests are compared,
// all of them, so that the time that takes says nothing of any token, its length included.
func (s *Console) byToken(token string, now time.Time) (who caller, ok bool) {
	got := sha256.Sum256([]byte(token))
	want := sha256.Sum256([]byte(s.token.Reveal()))
	if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		who, ok = caller{name: adminToken, role: Admin, method: methodToken}, true
	}
	for i := range s.config.Tokens {
		t := &s.config.Tokens[i]
		digest, err := t.sum()
		if same := subtle.ConstantTimeCompare(got[:], digest[:]) == 1; same && err == nil && (t.Expires.IsZero() || now.Before(t.Expires)) {
			who, ok = caller{name: t.Name, role: t.Role, method: methodToken, expires: t.Expires}, true
		}
	}
	return who, ok
}

// clientIP is the address that a request comes from.
func clientIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// by says who asks, in records.
func (c *call) by() map[string]string {
	return map[string]string{"who": c.who.name, "client_ip": clientIP(c.Request)}
}

// refused puts on record that something was not permitted: not to this caller, or not to
// anybody. What is merely wrong is not.
func (s *Console) refused(c *call, no *refusal) {
	switch no.code {
	case codeForbidden, codeReadOnly, codeCrossOrigin, codeCSRF, codeLogin:
	case codeUnauthenticated:
		if c.Header["Authorization"] == nil {
			return // nobody claims anything
		}
	default:
		return
	}
	attrs := c.by()
	attrs["why"] = no.code
	if c.op != nil {
		attrs["operation"] = c.op.id
		if id := c.PathValue("id"); agentID.MatchString(id) {
			attrs["id"] = id
		}
	}
	if no.needs != nobody {
		attrs["needs"] = string(no.needs)
	}
	if err := s.Audit("admin.refused", attrs); err != nil {
		s.Log.Error("write audit event", "error", err)
	}
}

// Me is the answer of GET /api/v1/session: who asks.
type Me struct {
	Name     string    `json:"name" doc:"as in audit records"`
	Role     Role      `json:"role"`
	Method   string    `json:"method" doc:"how that was proved"`
	Label    string    `json:"label,omitzero" doc:"a name for people"`
	CSRF     string    `json:"csrf,omitzero" doc:"what changes in a session show as X-CSRF-Token"`
	Expires  time.Time `json:"expires,omitzero"`
	ReadOnly bool      `json:"readOnly" doc:"nobody can change anything (admin.readOnly)"`
}

func (s *Console) me(c *call) (any, error) {
	me := Me{Name: c.who.name, Role: c.who.role, Method: c.who.method, Label: c.who.label, Expires: c.who.expires, ReadOnly: s.config.ReadOnly}
	if c.who.session != nil {
		me.CSRF = c.who.session.CSRF
	}
	return me, nil
}
