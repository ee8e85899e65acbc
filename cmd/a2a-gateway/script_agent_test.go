package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// cmdAgent starts a sample agent: agent NAME 1.0|0.3 [grpc] [require-extension]
// [token=SECRET] [step=DURATION]. It sets $NAME_CARD. "agent NAME down" ends it;
// for a name that never was, $NAME_CARD then leads to a port where nobody is.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) < 2 {
		ts.Fatalf("usage: agent NAME 1.0|0.3|down [grpc] [require-extension] [token=SECRET] [step=DURATION]")
	}
	w, name, kind := worldOf(ts), args[0], args[1]
	if kind == "down" {
		w.agentDown(ts, name)
		return
	}
	o := demo.Options{
		Step: 2 * time.Millisecond, RequireExtension: slices.Contains(args, "require-extension"),
		GRPC: slices.Contains(args, "grpc"),
	}
	for _, a := range args[2:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "token":
			o.BearerToken = value
		case "step":
			step, err := time.ParseDuration(value)
			ts.Check(err)
			o.Step = step
		}
	}
	start := map[string]func(demo.Options) (*demo.Agent, error){"1.0": demo.Agent10, "0.3": demo.Agent03}[kind]
	if start == nil {
		ts.Fatalf("agent: no such version %q", kind)
	}
	a, err := start(o)
	ts.Check(err)
	w.agents[name] = a
	w.name(ts, envName(name)+"_URL", a.URL)
	ts.Setenv(envName(name)+"_CARD", a.CardURL)
}

func (w *world) agentDown(ts *testscript.TestScript, name string) {
	if a := w.agents[name]; a != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.Close(ctx) // an idle gateway connection is closed with it
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	url := "http://" + l.Addr().String()
	w.name(ts, envName(name)+"_URL", url)
	ts.Setenv(envName(name)+"_CARD", url+"/.well-known/agent-card.json")
}

func envName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// cmdIssuer starts a token issuer that knows alice (finance), bob (support) and
// carol (operations, admins). It sets $ISSUER. "issuer down" starts one and ends
// it: its tokens exist, its keys cannot be had.
func cmdIssuer(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	i, err := demo.NewIssuer(demo.IssuerOptions{})
	ts.Check(err)
	w.issuer = i
	w.name(ts, "ISSUER", i.URL)
	if len(args) > 0 && args[0] == "down" {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ts.Check(i.Close(ctx))
	}
}

// cmdToken makes tokens: token USER [expired|wrong-audience|forged|scope=A,B|
// group=G|tenant=T|as=NAME]…. It sets $USER, or $NAME.
func cmdToken(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if w.issuer == nil || len(args) == 0 {
		ts.Fatalf("usage: token USER […], after issuer")
	}
	var o demo.IssueOptions
	for _, u := range demo.DemoUsers() {
		if u.Name == args[0] {
			o.Groups, o.Scopes, o.Tenant = u.Groups, u.Scopes, u.Tenant
		}
	}
	name := envName(args[0])
	for _, a := range args[1:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "expired":
			o.TTL = -time.Hour
		case "wrong-audience":
			o.Audience = []string{"somewhere-else"}
		case "forged":
			o.ForeignKey = true
		case "scope":
			o.Scopes = strings.Split(value, ",")
		case "group":
			o.Groups = strings.Split(value, ",")
		case "tenant":
			o.Tenant = value
		case "as":
			name = value
		default:
			ts.Fatalf("token: %q is not understood", a)
		}
	}
	token, err := w.issuer.Issue(args[0], o)
	ts.Check(err)
	w.name(ts, name, token)
}

// cmdCertificate writes NAME.pem and NAME-key.pem, self-signed for 127.0.0.1 and
// localhost. Calls of this script trust it from then on.
func cmdCertificate(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: certificate FILES COMMON-NAME")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: args[1]},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(100 * 24 * time.Hour),
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	parsed, err := x509.ParseCertificate(der)
	ts.Check(err)
	worldOf(ts).client.trust(parsed)
	write := func(name, kind string, bytes []byte) {
		data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o600))
	}
	write(args[0]+".pem", "CERTIFICATE", der)
	write(args[0]+"-key.pem", "PRIVATE KEY", private)
}
