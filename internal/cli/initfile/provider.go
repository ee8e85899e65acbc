package initfile

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// provider is where an authorization server of one kind puts things in its access tokens, and what
// has to be set there so that it does. Every provider issues JWTs, and each in its own way: what
// iss is for the address that people know, whether aud is there at all, which claim has groups. A
// configuration that is wrong about one of them refuses every token with a reason that only an
// expert reads.
type provider struct {
	Groups, Scopes, Client string // claims; "" for the default

	ForIssuer, ForAudience, ForGroups, ForScopes string // a line of comment each
}

// providing finds what tokens of an issuer carry, and what iss is in them: what was given, unless
// that is another address of the provider's, such as that of its console. It changes nothing and
// asks nobody.
type providing func(b *beginning, u *url.URL) (p *provider, iss string, err error)

// provide takes the provider that the command line names, and makes sure that --oidc is what iss
// will be: an issuer is compared byte for byte (OpenID Connect Core §3.1.3.7), so that a slash too
// many refuses every token. The error has the address that was expected. Nobody is asked;
// askIssuer does that.
func (b *beginning) provide(name string) error {
	if name == "" {
		return nil
	}
	of, ok := map[string]providing{"keycloak": keycloak, "entra": entra, "auth0": auth0, "okta": okta}[name]
	switch {
	case !ok:
		return fmt.Errorf("--provider: %q is not keycloak, entra, auth0 or okta", name)
	case b.Issuer == "":
		return errors.New("--provider says what the tokens of an issuer are like: name it with --oidc and --audience")
	}
	u, err := url.Parse(b.Issuer)
	if err != nil || u.Host == "" {
		return fmt.Errorf("--oidc: %q is not a URL with a host", secret.URL(b.Issuer))
	}
	p, iss, err := of(b, u)
	switch {
	case err != nil:
		return err
	case b.Issuer != iss:
		return fmt.Errorf("--oidc: %q is not what iss is in tokens of %s: expected %s", secret.URL(b.Issuer), name, iss)
	}
	b.Provider = p
	return nil
}

// origin is the beginning of every address of a provider's.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// keycloak has an issuer for each realm, below a path of its own before version 17 (/auth).
func keycloak(_ *beginning, u *url.URL) (*provider, string, error) {
	base, rest, _ := strings.Cut(u.EscapedPath()+"/", "/realms/")
	base, _, _ = strings.Cut(base, "/admin") // its console and API: no issuer is there
	realm, _, _ := strings.Cut(rest, "/")
	if realm == "" {
		realm = "REALM"
	}
	return &provider{
		Groups: "realm_access.roles", Scopes: "scope",
		ForIssuer:   "The realm's address, without a slash at its end.",
		ForAudience: `To be set: an Audience mapper with this value, in a client scope that clients have. By itself Keycloak names no API in aud.`,
		ForGroups:   `Realm roles, which the client scope "roles" adds. For groups: a Group Membership mapper, by its claim's name ("groups").`,
		ForScopes:   "To be set: client scopes, with Include in token scope.",
	}, origin(u) + strings.TrimRight(base, "/") + "/realms/" + realm, nil
}

// guid is an id of Entra's: of a tenant, or of an application.
var guid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// entra names the tenant by its id in tokens, whatever name clients use for it, and the version
// of tokens by the host (sts.windows.net) or the end of the path.
func entra(b *beginning, u *url.URL) (*provider, string, error) {
	tenant, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(u.Path, "/")), "/")
	if !guid.MatchString(tenant) {
		tenant = "TENANT-ID"
	}
	p := &provider{
		Groups: "roles", Scopes: "scp",
		ForIssuer:   "Tokens of version 2.0. To be set: requestedAccessTokenVersion: 2 in the manifest of the API's registration.",
		ForAudience: "The client id of the API's registration, which tokens of version 2.0 are always for.",
		ForGroups:   `To be set: app roles of the registration, with who has them. For groups by object id: the optional claim "groups", and that name here.`,
		ForScopes:   "To be set: scopes under Expose an API. Applications that call for themselves have roles only.",
	}
	if strings.HasPrefix(u.Host, "sts.") {
		p.Client = "appid"
		p.ForIssuer = "Tokens of version 1.0: requestedAccessTokenVersion is 1 or null in the manifest of the API's registration."
		p.ForAudience = "The application ID URI of the API's registration, or its client id: what clients ask for."
		return p, origin(u) + "/" + tenant + "/", nil
	}
	iss := origin(u) + "/" + tenant + "/v2.0"
	if b.Issuer != iss {
		return p, iss + " with the tenant's id, or https://sts.windows.net/" + tenant + "/ for tokens of version 1.0", nil
	}
	// Tokens of version 2.0 name the API by its client id, whatever its URI is.
	if !guid.MatchString(b.Audience) {
		return nil, "", fmt.Errorf("--audience: %q is not what aud is in Entra's tokens of version 2.0: expected the client id of the API's registration", b.Audience)
	}
	return p, iss, nil
}

// auth0 ends its issuers with a slash, and keeps the names of claims to itself that are no URLs.
func auth0(b *beginning, u *url.URL) (*provider, string, error) {
	iss := origin(u) + "/"
	if strings.HasPrefix(b.Audience, iss) {
		return nil, "", fmt.Errorf("--audience: %q is an API of Auth0's own: expected the identifier of one that is registered for the gateway", b.Audience)
	}
	// A URL that belongs to the operator: Auth0 drops other names from access tokens.
	namespace := b.PublicURL
	if strings.HasPrefix(b.Audience, "https://") {
		namespace = b.Audience
	}
	return &provider{
		Groups: strings.TrimRight(namespace, "/") + "/groups", Scopes: "permissions",
		ForIssuer:   "The tenant's domain, or its custom one, with the slash at its end.",
		ForAudience: "The identifier of an API. Clients have to ask for it (audience): without it they get tokens that only Auth0 can read.",
		ForGroups:   "To be set: an Action that calls api.accessToken.setCustomClaim with this name, since Auth0 has no claim for groups.",
		ForScopes:   "To be set: Enable RBAC and Add Permissions in the Access Token, in the settings of the API.",
	}, iss, nil
}

// okta has access tokens that others may read from its custom authorization servers alone.
func okta(_ *beginning, u *url.URL) (*provider, string, error) {
	_, rest, _ := strings.Cut(u.EscapedPath()+"/", "/oauth2/")
	server, _, _ := strings.Cut(rest, "/")
	if server == "" || server == "v1" { // endpoints of the organization's own
		server = "default"
	}
	u.Host = strings.Replace(u.Host, "-admin.okta", ".okta", 1)
	return &provider{
		Groups: "groups", Scopes: "scp", Client: "cid",
		ForIssuer:   "A custom authorization server. To be set: an access policy with a rule for the clients.",
		ForAudience: "The audience in the settings of the authorization server.",
		ForGroups:   "To be set: a claim of the authorization server, in the access token, of value type Groups and with a filter.",
		ForScopes:   "To be set: scopes of the authorization server, which its access policy grants.",
	}, origin(u) + "/oauth2/" + server, nil
}
