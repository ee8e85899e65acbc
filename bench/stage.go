package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// stage is what all subjects share: the agent, the issuer, a certificate, and
// somebody who takes traces.
type stage struct {
	ctx      context.Context // of the run
	options  options
	progress io.Writer
	dir      string
	roots    *x509.CertPool
	issuer   *demo.Issuer
	token    string
	agent    string // address of the agent, without TLS
	agentTLS string // and with it
	// The same for gRPC.
	agentRPC, agentRPCTLS string
	traces                string // URL of the collector
	binaries              map[string]string
	running               map[string]*running
	leftOut               map[string]string // subject to reason
	notes                 map[string]string // subject to what is to be known of its figures
	versions              map[string]string
	stops                 []func()
}

func newStage(ctx context.Context, o options, progress io.Writer) (*stage, error) {
	dir, err := os.MkdirTemp("", "a2a-gateway-bench-")
	if err != nil {
		return nil, err
	}
	st := &stage{
		ctx: ctx, options: o, progress: progress, dir: dir,
		binaries: map[string]string{}, running: map[string]*running{}, leftOut: map[string]string{}, notes: map[string]string{}, versions: map[string]string{},
	}
	st.stops = append(st.stops, func() { _ = os.RemoveAll(dir) })
	if err := st.prepare(); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (st *stage) prepare() (err error) {
	if err := st.certificate(); err != nil {
		return err
	}
	if st.issuer, err = demo.NewIssuer(demo.IssuerOptions{TTL: 6 * time.Hour}); err != nil {
		return err
	}
	st.stops = append(st.stops, func() { _ = st.issuer.Close(context.Background()) })
	st.token, err = st.issuer.Issue("alice", demo.IssueOptions{Groups: []string{"finance"}, Scopes: []string{"billing.read"}})
	if err != nil {
		return err
	}
	if err := st.collector(); err != nil {
		return err
	}
	p, err := st.spawn(exec.Command(os.Args[0], "role", "agent", st.file("cert.pem"), st.file("key.pem")))
	if err != nil {
		return err
	}
	said, err := p.find(func(line string) string {
		_, addresses, _ := strings.Cut(line, "agent=")
		return addresses
	})
	if err != nil {
		return err
	}
	addresses := strings.Split(said, ",")
	st.agent, st.agentTLS, st.agentRPC, st.agentRPCTLS = addresses[0], addresses[1], addresses[2], addresses[3]
	return nil
}

// collector takes the spans that gateways send and forgets them.
func (st *stage) collector() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	})}
	go func() { _ = server.Serve(l) }()
	st.traces = "http://" + l.Addr().String()
	st.stops = append(st.stops, func() { _ = server.Close() })
	return nil
}

func (st *stage) close() {
	for i := len(st.stops) - 1; i >= 0; i-- {
		st.stops[i]()
	}
}

// run starts a subject, or finds it running. Nothing is returned for one that is
// left out.
func (st *stage) run(w workload, s subject) (*running, error) {
	process := s
	if s.like != "" {
		for _, other := range subjects {
			if other.name == s.like {
				process = other
			}
		}
	}
	if reason, out := st.leftOut[process.name]; out {
		st.leftOut[s.name] = reason
		return nil, nil
	}
	if r := st.running[process.name]; r != nil && !w.fresh {
		return r, nil
	}
	r, err := process.start(st, setup{plain: w.plain})
	if errors.Is(err, errMissing) {
		st.leftOut[process.name], st.leftOut[s.name] = err.Error(), err.Error()
		st.say("%s is left out: %v", s.name, err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.version != "" {
		st.versions[process.name] = r.version
	}
	if !w.fresh {
		st.running[process.name] = r
	}
	return r, nil
}

// note keeps what is to be known of a subject's figures.
func (st *stage) note(subject, what string) {
	if said := st.notes[subject]; said == "" {
		st.notes[subject] = what
	} else if !strings.Contains(said, what) {
		st.notes[subject] = said + "; " + what
	}
}

func (st *stage) say(format string, args ...any) {
	_, _ = fmt.Fprintf(st.progress, format+"\n", args...)
}

// file is the path of a file of this run.
func (st *stage) file(name string) string { return filepath.Join(st.dir, name) }

// write makes a file of this run, below a new name every time.
func (st *stage) write(name, content string) (string, error) {
	dir, err := os.MkdirTemp(st.dir, "")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, []byte(content), 0o600)
}

// build makes a binary of a package in a module, once in a run, with further flags of go build.
func (st *stage) build(name, module, pkg string, flags ...string) (string, error) {
	if path := st.binaries[name]; path != "" {
		return path, nil
	}
	st.say("building %s", name)
	path := st.file(name)
	args := append([]string{"build", "-C", module, "-buildvcs=false", "-trimpath", "-o", path}, flags...)
	cmd := exec.CommandContext(st.ctx, "go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, said)
	}
	st.binaries[name] = path
	return path, nil
}

// root is the folder of the gateway's module.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "a2a-gateway")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not within the gateway's source")
		}
		dir = filepath.Dir(dir)
	}
}

func (st *stage) tls(protocols ...string) *tls.Config {
	return &tls.Config{RootCAs: st.roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, NextProtos: protocols}
}

// certificate makes one for 127.0.0.1: cert.pem, key.pem, and both.pem with both.
func (st *stage) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	st.roots = x509.NewCertPool()
	st.roots.AppendCertsFromPEM(certPEM)
	return errors.Join(
		os.WriteFile(st.file("cert.pem"), certPEM, 0o600),
		os.WriteFile(st.file("key.pem"), keyPEM, 0o600),
		os.WriteFile(st.file("both.pem"), append(certPEM, keyPEM...), 0o600))
}
