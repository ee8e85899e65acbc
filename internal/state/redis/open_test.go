package redis

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	one, two := []string{"127.0.0.1:1"}, []string{"127.0.0.1:1", "127.0.0.1:2"}
	log, _ := logged()
	for want, c := range map[string]state.RedisConfig{
		"redis.addresses: there is none":                 {},
		`redis.addresses: "127.0.0.1" is not an address`: {Addresses: []string{"127.0.0.1"}},
		`redis.addresses: ":6379" is not an address`:     {Addresses: []string{":6379"}},
		"redis.prefix":                         {Addresses: one, Prefix: "a{b"},
		"redis.database: -1":                   {Addresses: one, Database: -1},
		"redis.database: a cluster has only 0": {Addresses: two, Database: 1},
		"redis.timeout":                        {Addresses: one, Timeout: -1},
		"redis.connections":                    {Addresses: one, Connections: -1},
		"redis.password":                       {Addresses: one, Username: "u"},
		"redis.sentinelPassword":               {Addresses: one, SentinelPassword: secret.New("x")},
		"redis.tls.ca: open":                   {Addresses: one, TLS: &state.RedisTLS{CA: "absent"}},
		"redis.tls.ca: " + "open_test.go has no certificate": {Addresses: one, TLS: &state.RedisTLS{CA: "open_test.go"}},
		"redis.tls.certificate: redis.tls.key":               {Addresses: one, TLS: &state.RedisTLS{Certificate: "x"}},
		"redis.tls.certificate: open":                        {Addresses: one, TLS: &state.RedisTLS{Certificate: "x", Key: "y"}},
	} {
		s, err := Open(t.Context(), state.Config{Redis: c}, log, func(int64) {})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Open(%+v): %v, want %q", c, err, want)
		}
	}
}

// Servers that are not what the configuration says.
func TestOpenRefusesOtherServers(t *testing.T) {
	t.Parallel()
	log, _ := logged()
	plain, node := everybody(t), serve(t, "--cluster-enabled", "yes", "--appendonly", "no")
	for want, c := range map[string]state.RedisConfig{
		"redis.addresses: the servers are no cluster":      {Addresses: []string{plain.address, plain.address}},
		"redis.addresses: the server belongs to a cluster": {Addresses: []string{node.address}},
	} {
		c.Timeout = quantity.Duration(10e9)
		s, err := Open(t.Context(), state.Config{Redis: c}, log, func(int64) {})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Open(%+v): %v, want %q", c, err, want)
		}
	}
}

func TestOldServersAreRefused(t *testing.T) {
	t.Parallel()
	s := &servers{only: &guard{}}
	for info, fits := range map[string]bool{
		"redis_version:6.0.16\r\nredis_mode:standalone\r\n":                     false,
		"redis_version:5.0.14\r\n":                                              false,
		"redis_version:6.2.0\r\n":                                               true,
		"redis_version:7.0.15\r\n":                                              true,
		"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\n": true,
		"redis_version:10.0.0\r\n":                                              true,
		"redis_version:unknown\r\n":                                             true,
		"redis_version:7.2.4\r\nserver_mode:cluster\r\n":                        false,
	} {
		if err := s.fits(parseInfo(info)); (err == nil) != fits {
			t.Errorf("%q: %v", info, err)
		}
	}
}

// A server that may lose records is worth a warning, once.
func TestOpenWarns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"drops and forgets": {
			[]string{"--maxmemory-policy", "allkeys-lru", "--appendonly", "no"},
			[]string{"noeviction", "appendonly yes"},
		},
		"keeps":     {[]string{"--appendonly", "yes"}, nil},
		"snapshots": {[]string{"--appendonly", "no", "--save", "60 1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, said := logged()
			s := openLogged(t, config(serve(t, tc.args...).address), log)
			for range 3 {
				if err := s.Ping(t.Context()); err != nil {
					t.Errorf("Ping: %v", err)
				}
			}
			for _, want := range tc.want {
				if strings.Count(said(), want) != 1 {
					t.Errorf("want %q once in:\n%s", want, said())
				}
			}
			if strings.Count(said(), "WARN") != len(tc.want) {
				t.Errorf("want %d warnings in:\n%s", len(tc.want), said())
			}
		})
	}
}

// A store may be opened before its server is there.
func TestOpenBeforeTheServer(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no")
	server.end()
	log, said := logged()
	s := openLogged(t, config(server.address), log)
	if !strings.Contains(said(), "cannot be reached yet") {
		t.Errorf("Open said %q", said())
	}
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestEvicted: keys that a server drops after the gateway has met it are told of, once each.
func TestEvicted(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no", "--maxmemory-policy", "allkeys-lru")
	log, said := logged()
	var told atomic.Int64
	s, err := Open(t.Context(), config(server.address), log, func(keys int64) { told.Add(keys) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for id := range 50 {
		r := state.Record{Agent: "billing", Kind: state.Task, ID: strconv.Itoa(id), Owner: "alice", Created: time.Now()}
		if _, err := s.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Ping(t.Context()); err != nil || told.Load() != 0 {
		t.Fatalf("%d keys evicted, %v", told.Load(), err)
	}
	if err := s.client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Claim(t.Context(), state.Record{Agent: "billing", Kind: state.Task, ID: "last", Owner: "alice", Created: time.Now()})
	if err := s.client.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil { // it takes writes again
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := told.Load(); n == 0 || strings.Count(said(), "has dropped keys") != 1 {
		t.Errorf("%d keys evicted, said:\n%s", n, said())
	}
}
