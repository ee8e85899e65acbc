package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// access finds out who asks: by a token, an access token or a session. Each way in is
// optional but for the token: without an identity provider, chain and provider are nil and
// nobody but bearers of tokens comes in.
type access struct {
	config     *Config
	log        *slog.Logger
	keySkipped func(reason string) // may be nil

	token    secret.Value // of the admin API
	throttle throttle
	chain    *authn.Chain    // nil: tokens of an identity provider are nothing here
	provider *login.Provider // nil: nobody signs in
	sessions *login.Sessions // of those who have
}

// How a caller is proved.
const (
	methodToken   = "token"   // of this API
	methodOIDC    = "oidc"    // token of the identity provider
	methodSession = "session" // having signed in there
)

// adminToken is who asks with the token of the admin API. It stands as the name of the
// caller in audit records, so that no token of the configuration may have it.
const adminToken = "admin-token"

// nobody is the role of whoever has not said who it is.
const nobody api.Role = ""

// dialTimeout is for a connection to the identity provider.
const dialTimeout = 5 * time.Second

// open makes what knows the identity provider. Nothing is fetched yet. Sessions are there
// in any case, since a token can be exchanged for one. Errors name the key below admin.
func (a *access) open(options *Options) error {
	o := a.config.OIDC
	var usual login.Config
	usual.Defaults()
	a.sessions = login.NewSessions(usual)
	if o == nil {
		return nil
	}
	var err error
	if o.Login != nil {
		if a.provider, err = login.New(o.Issuer, *o.Login, nil, options.Egress.Dialer(dialTimeout), a.skipped); err != nil {
			return fmt.Errorf("oidc.login: %w", err)
		}
		a.sessions = login.NewSessions(*o.Login)
	}
	if len(o.Audiences) > 0 {
		if a.chain, err = schemes.New(context.Background(), o.authn(), schemes.Options{
			Logger: a.log, Egress: options.Egress, Skipped: a.keySkipped, Limits: options.Tokens,
		}); err != nil {
			return fmt.Errorf("oidc: %w", err)
		}
	}
	return nil
}

// skipped says which key of the identity provider cannot be used. It is also counted by the
// metrics, where the caller of Open wants that.
func (a *access) skipped(k jws.Skipped) {
	a.log.Log(context.Background(), k.Level(), "issuer key skipped", "issuer", a.config.OIDC.Issuer, "reason", string(k.Reason), "err", k.String())
	if a.keySkipped != nil {
		a.keySkipped(string(k.Reason))
	}
}

// close ends what fetches the identity provider's keys.
func (a *access) close() {
	if a.chain != nil {
		a.chain.Close()
	}
}

// identify finds out who asks. A request with an Authorization header is judged by that
// alone: a browser whose session is good and whose script shows a wrong token has to hear
// of the token. The order is from cheap to dear: tokens are compared in memory, access
// tokens may need keys of the identity provider.
func (a *access) identify(r *http.Request) (api.Caller, error) {
	if r.Header["Authorization"] == nil {
		if who, ok := a.bySession(r, time.Now()); ok {
			return who, nil
		}
		return api.Caller{}, a.unauthenticated(r)
	}
	if token, ok := bearer(r); ok {
		if who, ok := a.byToken(token, time.Now()); ok {
			return who, nil
		}
	}
	if a.chain == nil {
		return api.Caller{}, a.unauthenticated(r)
	}
	p, err := a.chain.Authenticate(r)
	switch {
	// Not counted as a guess: it says nothing about the credential.
	case errors.Is(err, authn.ErrUnavailable):
		a.log.Warn("admin request", "error", err)
		return api.Caller{}, noProvider.Refuse("the identity provider cannot be reached")
	case err != nil:
		return api.Caller{}, a.unauthenticated(r)
	}
	who := api.Caller{Name: p.String(), Subject: p.Subject, Groups: a.config.OIDC.groups(p.Claims), Role: a.config.OIDC.role(p.Claims), Method: methodOIDC, Expires: p.Expires, Label: label(p.Claims)}
	return who, welcome(&who)
}

// admitted reports whether whoever asked may still see what they see. It is asked again and
// again while records are shown live, as a credential may expire during that.
func (a *access) admitted(r *http.Request) bool { return a.has(r, api.Viewer) }

// operates is admitted for what takes an operator.
func (a *access) operates(r *http.Request) bool { return a.has(r, api.Operator) }

func (a *access) has(r *http.Request, role api.Role) bool {
	who, err := a.identify(r)
	return err == nil && who.Role.May(role)
}

// welcome is an error for somebody who is known, and has no role. The answer is a 403 and
// not a 401: another credential of the same person would not help.
func welcome(who *api.Caller) error {
	if who.Role == nobody {
		return &api.Refusal{Code: forbidden, Message: "you have no role here (admin.oidc.roles)", Needs: api.Viewer}
	}
	return nil
}

// unauthenticated is the answer to whoever did not prove anything. An address may guess now
// and then. A request without any credential is not counted: browsers make such requests
// before they sign in. The answer says which scheme is taken (RFC 9110, section 11.6.1).
func (a *access) unauthenticated(r *http.Request) error {
	if r.Header["Authorization"] != nil {
		if err := a.blame(r); err != nil {
			return err
		}
	}
	return &api.Refusal{
		Code: unauthenticated, Message: "a credential for the admin API is missing or wrong",
		Header: http.Header{"Www-Authenticate": {`Bearer realm="admin"`}},
	}
}

// bearer is the token that a request shows. false says that there is none, or more than one
// header: which of them was meant cannot be known. The scheme is compared without regard to
// case, as RFC 9110 has it.
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
func (a *access) byToken(token string, now time.Time) (who api.Caller, ok bool) {
	got := sha256.Sum256([]byte(token))
	want := sha256.Sum256([]byte(a.token.Reveal()))
	if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		who, ok = api.Caller{Name: adminToken, Subject: adminToken, Role: api.Admin, Method: methodToken}, true
	}
	for i := range a.config.Tokens {
		t := &a.config.Tokens[i]
		digest, err := t.sum()
		if same := subtle.ConstantTimeCompare(got[:], digest[:]) == 1; same && err == nil && (t.Expires.IsZero() || now.Before(t.Expires)) {
			who, ok = api.Caller{Name: t.Name, Subject: t.Name, Role: t.Role, Method: methodToken, Expires: t.Expires}, true
		}
	}
	return who, ok
}

// bySession knows a browser that has signed in. A session with a role that the
// configuration no longer gives keeps it until it ends, at most admin.oidc.login.life:
// roles are read from the ID token of the sign-in.
func (a *access) bySession(r *http.Request, now time.Time) (api.Caller, bool) {
	id := a.kept(r, sessionCookie)
	if id == "" || a.sessions == nil {
		return api.Caller{}, false
	}
	session, ok := a.sessions.Find(id, now)
	if !ok {
		return api.Caller{}, false
	}
	name := session.Who.Subject
	var groups []string
	if !session.Who.Local {
		name += "@" + a.config.OIDC.Issuer
		groups = a.config.OIDC.groups(session.Who.Claims)
	}
	return api.Caller{
		Name: name, Subject: session.Who.Subject, Groups: groups, Role: api.Role(session.Role), Method: methodSession,
		Expires: session.Expires, Label: label(session.Who.Claims), Session: &session, Cookie: id,
	}, true
}

// blame counts a credential that is wrong. An error says that there were too many. It is
// nil as long as the address is within admin.failures.
func (a *access) blame(r *http.Request) error {
	return a.throttle.blame((&api.Call{Request: r}).ClientIP(), a.config.Failures)
}
