package jwt

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// visits records what an issuer is asked for.
type visits struct {
	mu   sync.Mutex
	seen []string
}

func (v *visits) add(r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = append(v.seen, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Accept"),
		r.UserAgent(), r.Header.Get("Cookie")}, " "))
}

// withCookie is a client that would bring a cookie along.
func withCookie(s *httptest.Server) *http.Client {
	client := s.Client()
	client.Jar, _ = cookiejar.New(nil)
	here, _ := url.Parse(s.URL)
	client.Jar.SetCookies(here, []*http.Cookie{{Name: "session", Value: "s"}})
	return client
}

// Discovery is asked for by go-oidc, with our words and within our bounds.
func TestMetadataRequests(t *testing.T) {
	t.Parallel()
	const openID, oauth = "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"
	long := strings.Repeat("x", maxDocument/2)
	for _, tt := range []struct {
		name, path, doc, fails string
		status                 int
		asked                  []string
	}{
		{"found", openID, `{"issuer":"$","jwks_uri":"$/jwks"}`, "", 200, []string{openID, "/jwks"}},
		{"found where OAuth has it", oauth, `{"issuer":"$","jwks_uri":"$/jwks"}`, "", 200, []string{openID, oauth, "/jwks"}},
		{"down", openID, `{"issuer":"$","jwks_uri":"$/jwks"}`, "unexpected status 503", 503, []string{openID}},
		{"empty", openID, "", "unexpected status 204", 204, []string{openID}},
		{"too long", openID, `{"p":"` + long + long + `"}`, "more than 262144 bytes", 200, []string{openID}},
		{"another issuer", openID, `{"issuer":"$/","jwks_uri":"$/jwks"}`, "did not match", 200, []string{openID}},
		{"another issuer of many words", openID, `{"issuer":"` + long + `"}`, "did not match", 200, []string{openID}},
		{"issuer a long number", openID, `{"issuer":` + strings.Repeat("1", 1000) + `}`, "decode", 200, []string{openID}},
		{"another OAuth issuer of many words", oauth, `{"issuer":"` + long + `"}`, "document of issuer", 200, []string{openID, oauth}},
		{"issuer twice", openID, `{"issuer":"x","issuer":"$","jwks_uri":"$/jwks"}`, "duplicate", 200, []string{openID}},
		{"issuer in capitals", openID, `{"ISSUER":"$","jwks_uri":"$/jwks"}`, "document of issuer", 200, []string{openID}},
		{"something behind", openID, `{"issuer":"$","jwks_uri":"$/jwks"}{}`, "decode", 200, []string{openID}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v visits
			i := authntest.Standard()
			var s *httptest.Server
			s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				v.add(r)
				if r.URL.Path != tt.path {
					i.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, strings.ReplaceAll(tt.doc, "$", s.URL))
			}))
			t.Cleanup(s.Close)
			i.DocPath = "/none"
			_, err := newSource(&Issuer{Issuer: s.URL}, withCookie(s), nil, time.Now).keys(t.Context())
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("got %.1000v, want %q", err, tt.fails)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("an error of %d bytes, of the document's words", len(err.Error()))
			}
			var asked []string
			for _, path := range tt.asked {
				asked = append(asked, "GET "+path+" application/json, application/jwk-set+json a2a-gateway ")
			}
			authntest.Want(t, "requests", strings.Join(v.seen, "\n"), strings.Join(asked, "\n"))
		})
	}
}

// Whatever address the library comes up with, nothing is fetched in the clear for an
// issuer that is written as https://.
func TestDocumentsOverTLS(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	client := reading(&Issuer{Issuer: authntest.TestIssuer}, &http.Client{Transport: i})
	for _, addr := range []string{"http://idp.test/jwks", "https://user:word@idp.test/jwks", "ftp://idp.test/jwks"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, addr, nil)
		req.RequestURI = ""
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			t.Errorf("%s: fetched", addr)
		}
	}
	authntest.Want(t, "fetches", mustJSON(t, i.Jwks.Load()), "0")
}
