package callcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// given is where the credential comes from, as the command line says.
type given struct{ as, keyFile, token, tokenFile string }

// Variables of the environment that hold a credential, where no flag names one.
const (
	envKey   = "A2A_GATEWAY_KEY"
	envToken = "A2A_GATEWAY_TOKEN"
)

// apiKeyHeader is where an API key is shown unless the card or the configuration says otherwise.
const apiKeyHeader = "X-Api-Key" //nolint:gosec // the name of a header

func (g *given) flags(f *pflag.FlagSet) {
	f.StringVar(&g.as, "as", "", "API `key` of the caller; safer in $"+envKey+" or a file")
	f.StringVar(&g.keyFile, "key-file", "", "`file` with the caller's API key; - is the standard input")
	f.StringVar(&g.token, "token", "", "`token` of the caller; safer in $"+envToken+" or a file")
	f.StringVar(&g.tokenFile, "token-file", "", "`file` with the caller's token; - is the standard input")
}

// credential is what a call shows. The zero value is nothing.
type credential struct {
	value secret.Value
	token bool   // it goes as a bearer token, not as an API key
	from  string // where it was found, for errors
}

// read finds the credential: of a flag, else of the environment, an API key before a token.
func (g *given) read(stdin io.Reader) (credential, error) {
	switch {
	case g.as != "":
		return named(g.as)
	case g.token != "":
		return credential{secret.New(g.token), true, "--token"}, nil
	case g.keyFile != "":
		return fromFile(g.keyFile, "--key-file", false, stdin)
	case g.tokenFile != "":
		return fromFile(g.tokenFile, "--token-file", true, stdin)
	}
	if key := strings.TrimSpace(os.Getenv(envKey)); key != "" {
		return credential{secret.New(key), false, "$" + envKey}, nil
	}
	if token := strings.TrimSpace(os.Getenv(envToken)); token != "" {
		return credential{secret.New(token), true, "$" + envToken}, nil
	}
	return credential{}, nil
}

// named is what --as has. People write the id of a key there, which nothing can be made of: the
// gateway keeps a digest of each key.
func named(as string) (credential, error) {
	if strings.HasPrefix(as, "a2a_") {
		return credential{secret.New(as), false, "--as"}, nil
	}
	if strings.Count(as, ".") == 2 && len(as) > 40 {
		return credential{secret.New(as), true, "--as"}, nil
	}
	return credential{}, fmt.Errorf("--as: that is no API key, which begins with a2a_: the id of a key is not enough, as the gateway keeps only its digest; "+
		"give the key in $%s or --key-file, or make another one: a2a-gateway keys create --id NAME", envKey)
}

// fromFile reads a credential from the first line of a file.
func fromFile(name, flag string, token bool, stdin io.Reader) (credential, error) {
	const most = 64 << 10 // a token with many groups has some KiB
	in := stdin
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the caller's own file
		if err != nil {
			return credential{}, fmt.Errorf("%s: %w", flag, err)
		}
		defer f.Close() // only read from
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return credential{}, fmt.Errorf("%s: %w", flag, err)
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "":
		return credential{}, fmt.Errorf("%s: %s is empty", flag, name)
	case strings.ContainsAny(text, "\r\n\t "):
		return credential{}, fmt.Errorf("%s: %s has more in it than one credential", flag, name)
	}
	return credential{secret.New(text), token, flag}, nil
}

// set puts the credential into a header. keyHeader is where an API key goes.
func (c credential) set(h http.Header, keyHeader string) {
	switch {
	case c.value.IsZero():
	case c.token:
		h.Set("Authorization", "Bearer "+c.value.Reveal())
	default:
		h.Set(keyHeader, c.value.Reveal())
	}
}

// shown adds the credential to requests of one origin, and to no others: a card could otherwise
// have it sent to any address it likes, and so could a redirect.
type shown struct {
	credential

	origin    string // scheme://host:port
	keyHeader string
	next      http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s *shown) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.value.IsZero() && originOf(r.URL) == s.origin {
		r = r.Clone(r.Context())
		s.set(r.Header, s.keyHeader)
	}
	return s.next.RoundTrip(r)
}

// originOf is the origin of a URL with its port written out, so that two spellings of one are
// equal.
func originOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// errQuery says that an API key belongs where this client does not put it.
var errQuery = errors.New("the card wants an API key in the query or a cookie, where it ends in logs: only headers are written here")

// keyHeaderOf is the header in which the card wants an API key: in 0.3's members a scheme of type
// apiKey, in 1.0's an apiKeySecurityScheme. Where the card has none it is the gateway's usual one.
func keyHeaderOf(c *card.Card) (string, error) {
	type key struct{ In, Location, Name string }
	var doc struct {
		SecuritySchemes map[string]struct {
			key

			Type                 string
			APIKeySecurityScheme *key
		}
	}
	_ = json.Unmarshal(c.Raw, &doc) // a scheme of another shape is none
	var other bool
	for _, s := range doc.SecuritySchemes {
		found := s.key
		if s.APIKeySecurityScheme != nil {
			found = *s.APIKeySecurityScheme
		} else if s.Type != "apiKey" {
			continue
		}
		if where := found.In + found.Location; !strings.HasPrefix(where, "header") {
			other = true
		} else if found.Name != "" {
			return found.Name, nil
		}
	}
	if other {
		return "", errQuery
	}
	return apiKeyHeader, nil
}
