package redis

import (
	"crypto/x509"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// secured is a server that wants certificates and a login, and a store's configuration
// for it. The user may do what the package's documentation says, and no more.
func secured(t testing.TB) (*server, state.Config) {
	t.Helper()
	dir := t.TempDir()
	certify(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	c := config()
	s := serve(t, "--port", "0", "--tls-port", "PORT", "--tls-cert-file", file("server.pem"),
		"--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.pem"), "--tls-auth-clients", "yes",
		"--user", "gateway", "on", ">open sesame", "~{"+c.Redis.Prefix+"*",
		"+@read", "+@write", "+@scripting", "+@connection", "+time", "+info", "+config|get",
		"--user", "default", "off")
	c.Redis.Addresses = []string{s.address}
	c.Redis.Username, c.Redis.Password = "gateway", secret.New("open sesame")
	c.Redis.TLS = &state.RedisTLS{CA: file("ca.pem"), Certificate: file("client.pem"), Key: file("client.key")}
	return s, c
}

func TestSecuredStoreConforms(t *testing.T) {
	t.Parallel()
	_, c := secured(t)
	s := open(t, c)
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	r := statetest.Example()
	if got, err := s.Claim(t.Context(), r); err != nil || got.Owner != r.Owner {
		t.Errorf("Claim: %+v, %v", got, err)
	}
	if list, err := s.Tasks(t.Context(), state.Query{Agent: r.Agent, Owner: r.Owner, Limit: 9}); err != nil || len(list) != 1 {
		t.Errorf("Tasks: %v, %v", list, err)
	}
	if _, err := s.Advance(t.Context(), statetest.ExampleStep(), "", "paid"); err != nil {
		t.Errorf("Advance: %v", err)
	}
	for _, k := range []state.DrawKind{state.Rate, state.Quota, state.Hold} {
		d := statetest.ExampleDraw(k)
		if got, err := s.Draw(t.Context(), []state.Draw{d}); err != nil || !got[0].OK {
			t.Errorf("Draw: %v, %v", got, err)
		}
	}
	if err := s.Put(t.Context(), "space", "key", []byte("v"), time.Hour); err != nil {
		t.Errorf("Put: %v", err)
	}
	if list, err := s.List(t.Context(), "space", "", 9); err != nil || len(list) != 1 {
		t.Errorf("List: %v, %v", list, err)
	}
	if err := s.sweepAgents(t.Context()); err != nil {
		t.Errorf("sweep: %v", err)
	}
}

func TestOpenRefusesBadLogins(t *testing.T) {
	t.Parallel()
	_, c := secured(t)
	for name, tc := range map[string]struct {
		change func(*state.RedisConfig)
		want   string // in the error; "" when it only cannot be reached yet
	}{
		"wrong password": {func(c *state.RedisConfig) { c.Password = secret.New("x") }, "redis.password"},
		"no rights":      {func(c *state.RedisConfig) { c.Prefix = "else" }, "redis.username"},
		"no login":       {func(c *state.RedisConfig) { c.Username, c.Password = "", secret.Value{} }, "redis.password"},
		"no certificate": {func(c *state.RedisConfig) { c.TLS = &state.RedisTLS{CA: c.TLS.CA} }, ""},
		"another CA":     {func(c *state.RedisConfig) { c.TLS = &state.RedisTLS{} }, ""},
		"no TLS":         {func(c *state.RedisConfig) { c.TLS = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c
			tc.change(&c.Redis)
			log, said := logged()
			s, err := Open(t.Context(), c, log, func(int64) {})
			if err == nil {
				defer s.Close()
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Open: %v, want %q in it", err, tc.want)
			}
			if tc.want == "" && (err != nil || !strings.Contains(said(), "cannot be reached yet")) {
				t.Errorf("Open: %v, and said %q", err, said())
			}
			if strings.Contains(said(), "open sesame") || err != nil && strings.Contains(err.Error(), "sesame") {
				t.Error("the password is told")
			}
		})
	}
}

// Connections with TLS do not show that they have ended until they are used. After an
// outage the probe uses them up at once, not one at a time, and no call comes by them.
func TestOutageWithManyConnections(t *testing.T) {
	testenv.Long(t, "hundreds of connections break and come back")
	t.Parallel()
	const n = 60 // at one for each look at the server it would take 15 s
	server, c := secured(t)
	s := open(t, c)
	client, _ := s.client.(*redis.Client)
	together := func(call func() error) (failed int64) {
		var all sync.WaitGroup
		var errs atomic.Int64
		for range n {
			all.Go(func() {
				if call() != nil {
					errs.Add(1)
				}
			})
		}
		all.Wait()
		return errs.Load()
	}
	lookup := func() error { _, _, err := s.Lookup(t.Context(), "billing", state.Task, "x"); return err }
	until(t, "there are many connections", func() bool {
		// While all wait for the same, each needs a connection of its own.
		together(func() error { return client.BLPop(t.Context(), time.Second/10, s.names.limits()+":none").Err() })
		return client.PoolStats().IdleConns == n
	})
	server.end()
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	for range failures {
		if lookup() == nil {
			t.Error("a connection that has ended works")
		}
	}
	begin := time.Now()
	until(t, "calls succeed again", func() bool { return lookup() == nil })
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v until calls succeeded", took)
	}
	if failed := together(lookup); failed > 0 {
		t.Errorf("%d calls failed after the outage", failed)
	}
}

// certify writes a CA and the certificates of a server and a client.
func certify(t testing.TB, dir string) {
	t.Helper()
	write := func(name string, i *certtest.Identity) {
		i.Write(t, filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
	}
	ca := certtest.Authority(t, "CA")
	write("ca", ca)
	for _, name := range []string{"server", "client"} {
		write(name, certtest.Issue(t, x509.Certificate{
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}, ca))
	}
}
