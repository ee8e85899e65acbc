package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// placeholders are what a description may have in double braces, as Go's text/template writes them:
// {{.Address}}. All are texts but Plain, Cores and Descriptors.
type placeholders map[string]any

// values are the placeholders of one process that a run starts.
func (st *stage) values(dir, address string, plain bool) (placeholders, error) {
	keys, err := st.jwksURL()
	if err != nil {
		return nil, err
	}
	v := placeholders{
		"Address": address, // where it is to listen
		"Agent":   st.agent,
		"Cert":    st.file("cert.pem"), "Key": st.file("key.pem"), "Both": st.file("both.pem"),
		"Token": st.token, "Issuer": st.issuer.URL, "JWKS": keys, "Audience": "a2a-gateway",
		"Dir": dir, "Scheme": setup{plain: plain}.scheme(), "Plain": plain,
		"Cores": runtime.NumCPU(), "Descriptors": descriptors(), "Bench": os.Args[0],
	}
	return v, v.split()
}

// sampleValues have the form of those of a run.
func sampleValues(plain bool) placeholders {
	v := placeholders{
		"Address": "127.0.0.1:1234", "Agent": "127.0.0.1:5678",
		"Cert": "/x/cert.pem", "Key": "/x/key.pem", "Both": "/x/both.pem",
		"Token": "a.b.c", "Issuer": "http://127.0.0.1:9", "JWKS": "http://127.0.0.1:9/keys", "Audience": "a2a-gateway",
		"Dir": "/x/dir", "Scheme": setup{plain: plain}.scheme(), "Plain": plain,
		"Cores": 2, "Descriptors": 4000, "Bench": "/x/bench",
	}
	_ = v.split()
	return v
}

// split adds hosts and ports, which some programs want apart.
func (v placeholders) split() error {
	for _, name := range []string{"Address", "Agent"} {
		host, port, err := net.SplitHostPort(fmt.Sprint(v[name]))
		if err != nil {
			return err
		}
		v[name+"Host"], v[name+"Port"] = host, port
	}
	return nil
}

// rendering fills in the texts of a description, and collects what is wrong with them.
type rendering struct {
	values placeholders
	ports  map[string]string // free ones, by the name that the description has for them
	wrongs []wrong
}

func (v placeholders) rendering() *rendering {
	return &rendering{values: v, ports: map[string]string{}}
}

// text fills in one value, which a path leads to.
func (r *rendering) text(s string, path ...any) string {
	fail := func(err error) string {
		names := slices.Sorted(maps.Keys(r.values))
		err = fmt.Errorf("%w; there are {{.%s}}, {{freePort NAME}}, {{hs256 SECRET CLAIMS}} and what text/template has", err, strings.Join(names, "}}, {{."))
		r.wrongs = append(r.wrongs, wrong{keypath.Of(path...), err})
		return ""
	}
	t, err := template.New("placeholders").Option("missingkey=error").Funcs(template.FuncMap{"freePort": r.freePort, "hs256": hs256}).Parse(s)
	if err != nil {
		return fail(err)
	}
	var b strings.Builder
	if err := t.Execute(&b, map[string]any(r.values)); err != nil {
		return fail(err)
	}
	return b.String()
}

// list fills in a command. An argument of which its placeholders leave nothing is left out.
func (r *rendering) list(key string, values []string) []string {
	var out []string
	for i, v := range values {
		if text := r.text(v, key, i); text != "" || v == "" {
			out = append(out, text)
		}
	}
	return out
}

// texts fills in what has names. A text of which its placeholders leave nothing is left out.
func (r *rendering) texts(values map[string]string, path ...any) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text := r.text(values[name], append(slices.Clone(path), name)...); text != "" || values[name] == "" {
			out[name] = text
		}
	}
	return out
}

// url fills in a URL; "" stays.
func (r *rendering) url(s string, path ...any) string {
	before := len(r.wrongs)
	text := r.text(s, path...)
	if s == "" || len(r.wrongs) > before {
		return text
	}
	if err := absolute(text); err != nil {
		r.wrongs = append(r.wrongs, wrong{keypath.Of(path...), err})
	}
	return text
}

// freePort is a port that nobody listens at, the same for the same name: many programs have a
// listener for their administration, whose usual port another process may have.
func (r *rendering) freePort(name string) (string, error) {
	if port, ok := r.ports[name]; ok {
		return port, nil
	}
	address, err := freePort()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	r.ports[name] = port
	return port, err
}

// hs256 is a token with claims, as JSON, that lives as long as the longest run, for programs that know only a secret. The
// key is the secret's bytes.
func hs256(secret, claims string) (string, error) {
	key := []byte(secret)
	if len(key) < sha256.Size { // RFC 7518, section 3.2
		return "", fmt.Errorf("hs256: the secret has %d bytes, want %d or more", len(key), sha256.Size)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	parsed := map[string]any{}
	if err := json.Unmarshal([]byte(claims), &parsed); err != nil {
		return "", fmt.Errorf("hs256: claims: %w", err)
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(parsed).Claims(jwt.Claims{
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(6 * time.Hour)),
	}).Serialize()
}
