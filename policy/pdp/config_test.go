package pdp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Authorizer)
		want   string // what the error begins with; "" for none
	}{
		"fine":              {func(*Authorizer) {}, ""},
		"loopback":          {func(a *Authorizer) { a.URL = "http://127.8.0.1:8181/pdp" }, ""},
		"loopback, IPv6":    {func(a *Authorizer) { a.URL = "http://[::1]:8181" }, ""},
		"loopback by name":  {func(a *Authorizer) { a.URL = "http://LOCALHOST:8181" }, ""},
		"gRPC":              {func(a *Authorizer) { a.Kind, a.URL = kindExtAuthz, "grpcs://authz.example:9191" }, ""},
		"gRPC here":         {func(a *Authorizer) { a.Kind, a.URL = kindExtAuthz, "grpc://localhost:9191" }, ""},
		"name":              {func(a *Authorizer) { a.Name = "" }, "policy.authorizers[0].name: missing"},
		"name of blanks":    {func(a *Authorizer) { a.Name = "a b" }, "policy.authorizers[0].name: "},
		"long name":         {func(a *Authorizer) { a.Name = strings.Repeat("a", 65) }, "policy.authorizers[0].name: longer"},
		"kind":              {func(a *Authorizer) { a.Kind = "opa" }, `policy.authorizers[0].kind: "opa" is neither "authzen" nor "ext_authz"`},
		"no URL":            {func(a *Authorizer) { a.URL = "" }, "policy.authorizers[0].url: missing"},
		"no host":           {func(a *Authorizer) { a.URL = "https:///x" }, "policy.authorizers[0].url: not an absolute"},
		"bad URL":           {func(a *Authorizer) { a.URL = "https://a b/\x7f" }, "policy.authorizers[0].url: not an absolute"},
		"scheme":            {func(a *Authorizer) { a.URL = "grpcs://a:1" }, "policy.authorizers[0].url: not an absolute https or http URL"},
		"plain":             {func(a *Authorizer) { a.URL = "http://pdp.example" }, "policy.authorizers[0].url: http is for services on this machine"},
		"plain, near":       {func(a *Authorizer) { a.URL = "http://127.0.0.1.example" }, "policy.authorizers[0].url: http is for"},
		"plain, private":    {func(a *Authorizer) { a.URL = "http://10.0.0.1" }, "policy.authorizers[0].url: http is for"},
		"password":          {func(a *Authorizer) { a.URL = "https://u:hunter2@a" }, "policy.authorizers[0].url: must not hold a user name"},
		"query":             {func(a *Authorizer) { a.URL = "https://a/?b" }, "policy.authorizers[0].url: must have neither query"},
		"fragment":          {func(a *Authorizer) { a.URL = "https://a/#b" }, "policy.authorizers[0].url: must have neither query"},
		"gRPC without port": {func(a *Authorizer) { a.Kind, a.URL = kindExtAuthz, "grpcs://a" }, "policy.authorizers[0].url: the port is missing"},
		"gRPC with a path":  {func(a *Authorizer) { a.Kind, a.URL = kindExtAuthz, "grpcs://a:1/b" }, "policy.authorizers[0].url: must have no path"},
		"no agents":         {func(a *Authorizer) { a.Agents = []string{} }, "policy.authorizers[0].agents: empty"},
		"empty skill":       {func(a *Authorizer) { a.Skills = []string{"a", ""} }, "policy.authorizers[0].skills: holds an empty"},
		"no claims":         {func(a *Authorizer) { a.Claims = []string{} }, "policy.authorizers[0].claims: empty"},
		"unknown agent":     {func(a *Authorizer) { a.Agents = []string{"biling"} }, `policy.authorizers[0].agents: agent "biling" is not configured`},
		"unknown method":    {func(a *Authorizer) { a.Methods = []string{"Send"} }, `policy.authorizers[0].methods: "Send" is not an A2A method`},
		"any method":        {func(a *Authorizer) { a.Methods = []string{"*"} }, `policy.authorizers[0].methods: there is no "*"`},
		"onFailure":         {func(a *Authorizer) { a.OnFailure = "pass" }, `policy.authorizers[0].onFailure: "pass"`},
		"mode":              {func(a *Authorizer) { a.Mode = "audit" }, `policy.authorizers[0].mode: "audit"`},
		"timeout":           {func(a *Authorizer) { a.Timeout = quantity.Duration(time.Minute) }, "policy.authorizers[0].timeout: 1m is more than 10s"},
		"cache":             {func(a *Authorizer) { a.Cache = quantity.Duration(time.Hour) }, "policy.authorizers[0].cache: 1h is more than 1m"},
		"token":             {func(a *Authorizer) { a.Token = secret.New("a\nb") }, "policy.authorizers[0].token: "},
		"half a pair":       {func(a *Authorizer) { a.TLS.Key = "k.pem" }, "policy.authorizers[0].tls: certificate and key"},
		"TLS without": {func(a *Authorizer) {
			a.URL, a.TLS.ServerName = "http://localhost", "a"
		}, "policy.authorizers[0].tls: the url has the scheme http"},
		"no such CA":  {func(a *Authorizer) { a.TLS.CA = "/nowhere/ca.pem" }, "policy.authorizers[0].tls.ca: "},
		"empty CA":    {func(a *Authorizer) { a.TLS.CA = os.DevNull }, "policy.authorizers[0].tls.ca: "},
		"no such key": {func(a *Authorizer) { a.TLS.Certificate, a.TLS.Key = "/nowhere/c", "/nowhere/k" }, "policy.authorizers[0].tls.certificate: "},
	} {
		a := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: "https://pdp.example", Agents: []string{"bill*", "weather"}}
		test.change(&a)
		panel, err := New(Config{a}, Options{Agents: []string{"billing", "weather"}})
		if err == nil {
			panel.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a password", name)
		}
	}
}

// TestValidateAll: every mistake is reported, and names are unique.
func TestValidateAll(t *testing.T) {
	t.Parallel()
	err := Config{
		{Name: "a", Kind: kindAuthZEN, URL: "https://a"},
		{Name: "a", Kind: "x", Mode: "y", OnFailure: "z"},
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"[1].kind", "[1].mode", "[1].onFailure", `[1].name: another authorizer is called "a" too`} {
		if !strings.Contains(err.Error(), "policy.authorizers"+want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if strings.Contains(err.Error(), "[0]") {
		t.Errorf("the first is right: %v", err)
	}
}

// TestNoFiles: validating reads none.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "ca.pem")
	if err := (Config{{Name: "a", Kind: kindAuthZEN, URL: "https://a", TLS: TLS{CA: gone}}}).Validate(); err != nil {
		t.Error(err)
	}
}
