package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// connect makes the client that the addresses call for. It connects to nothing yet.
func connect(c state.RedisConfig, log *slog.Logger) (redis.UniversalClient, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	// The library has one logger for the process; what matters of it reaches us as errors.
	redis.SetLogger(debugLog{log})
	// Several addresses are a cluster's nodes, unless a master's name makes sentinels of them.
	switch {
	case c.Master != "":
		f := o.Failover()
		f.SentinelPassword = c.SentinelPassword.Reveal()
		return redis.NewFailoverClient(f), nil
	case len(c.Addresses) > 1:
		return redis.NewClusterClient(o.Cluster()), nil
	}
	return redis.NewClient(o.Simple()), nil
}

// check refuses what cannot be meant.
func check(c state.RedisConfig) error {
	if len(c.Addresses) == 0 {
		return keypath.At(errors.New("there is none; write host:port of the server, as in [127.0.0.1:6379]"), "redis", "addresses")
	}
	for i, a := range c.Addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return keypath.At(keypath.Point(fmt.Errorf("%q is not an address; write host:port", secret.URL(a)), i), "redis", "addresses") // some write a URL, with a password
		}
	}
	cluster := len(c.Addresses) > 1 && c.Master == ""
	switch {
	case strings.ContainsAny(c.Prefix, "{}"):
		return keypath.At(fmt.Errorf("%q has braces in it, which end what keeps keys together; leave them out", c.Prefix), "redis", "prefix")
	case c.Database < 0:
		return keypath.At(fmt.Errorf("%d is negative; write 0 or leave it out", c.Database), "redis", "database")
	case c.Database > 0 && cluster:
		return keypath.At(errors.New("a cluster has only 0; leave it out, or name the sentinels' redis.master"), "redis", "database")
	case c.Timeout < 0:
		return keypath.At(fmt.Errorf("must not be negative; leave it out for %v", defaultTimeout), "redis", "timeout")
	case c.Connections < 0:
		return keypath.At(fmt.Errorf("%d is negative; leave it out for %d", c.Connections, defaultConnections), "redis", "connections")
	case c.Username != "" && c.Password.IsZero():
		return keypath.At(fmt.Errorf("is needed to log in as redis.username %q", c.Username), "redis", "password")
	case !c.SentinelPassword.IsZero() && c.Master == "":
		return keypath.At(errors.New("without redis.master there are no sentinels; leave it out"), "redis", "sentinelPassword")
	}
	return nil
}

// options are those that all kinds of clients share. Every wait is bounded by the timeout
// of an operation, and nothing is tried twice: a Draw that is would count twice.
func options(c state.RedisConfig) (*redis.UniversalOptions, error) {
	// The timeout bounds each step; the context of an operation bounds them together.
	within, connections := timeout(c), c.Connections
	if connections == 0 {
		connections = defaultConnections
	}
	o := &redis.UniversalOptions{
		Addrs:                 c.Addresses,
		MasterName:            c.Master,
		DB:                    c.Database,
		Username:              c.Username,
		Password:              c.Password.Reveal(),
		Protocol:              2, // no pushes, so that idle connections need no reading
		DisableIdentity:       true,
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           within,
		ReadTimeout:           within,
		WriteTimeout:          within,
		PoolTimeout:           within,
		ContextTimeoutEnabled: true,
		PoolSize:              connections,
		MaxActiveConns:        connections,
		PipelinePoolSize:      -1, // the bound is one for all
		ConnMaxIdleTime:       5 * time.Minute,

		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if c.TLS != nil {
		var err error
		if o.TLSConfig, err = tlsConfig(*c.TLS); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// tlsConfig reads the files once, to refuse what is wrong with them, and the certificate
// again for each connection, as it is renewed from time to time.
func tlsConfig(c state.RedisTLS) (*tls.Config, error) {
	// RFC 9325 §3.1.1 has TLS 1.2 as the least.
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, keypath.At(err, "redis", "tls", "ca")
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, keypath.At(fmt.Errorf("%s has no certificate in PEM form", c.CA), "redis", "tls", "ca")
		}
	}
	if (c.Certificate == "") != (c.Key == "") {
		return nil, keypath.At(errors.New("redis.tls.key belongs to it; write both or none"), "redis", "tls", "certificate")
	}
	if c.Certificate != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, keypath.At(err, "redis", "tls", "certificate")
		}
		t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return t, nil
}

// timeout is state.redis.timeout or its default.
func timeout(c state.RedisConfig) time.Duration {
	if c.Timeout <= 0 {
		return defaultTimeout
	}
	return c.Timeout.Std()
}

// prefix is state.redis.prefix or its default.
func prefix(c state.RedisConfig) string {
	if c.Prefix == "" {
		return defaultPrefix
	}
	return c.Prefix
}

// debugLog takes what the library says.
type debugLog struct{ log *slog.Logger }

// Printf implements the library's logger.
func (d debugLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis client: "+fmt.Sprintf(format, args...))
	}
}
