package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

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
		return fmt.Errorf("redis.addresses: there is none; write host:port of the server, as in [127.0.0.1:6379]")
	}
	for _, a := range c.Addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return fmt.Errorf("redis.addresses: %q is not an address; write host:port", secret.URL(a)) // some write a URL, with a password
		}
	}
	cluster := len(c.Addresses) > 1 && c.Master == ""
	switch {
	case strings.ContainsAny(c.Prefix, "{}"):
		return fmt.Errorf("redis.prefix: %q has braces in it, which end what keeps keys together; leave them out", c.Prefix)
	case c.Database < 0:
		return fmt.Errorf("redis.database: %d is negative; write 0 or leave it out", c.Database)
	case c.Database > 0 && cluster:
		return fmt.Errorf("redis.database: a cluster has only 0; leave it out, or name the sentinels' redis.master")
	case c.Timeout < 0:
		return fmt.Errorf("redis.timeout: must not be negative; leave it out for %v", defaultTimeout)
	case c.Connections < 0:
		return fmt.Errorf("redis.connections: %d is negative; leave it out for %d", c.Connections, defaultConnections)
	case c.Username != "" && c.Password.IsZero():
		return fmt.Errorf("redis.password: is needed to log in as redis.username %q", c.Username)
	case !c.SentinelPassword.IsZero() && c.Master == "":
		return fmt.Errorf("redis.sentinelPassword: without redis.master there are no sentinels; leave it out")
	}
	return nil
}

// options are those that all kinds of clients share. Every wait is bounded by the timeout
// of an operation, and nothing is tried twice: a Draw that is would count twice.
func options(c state.RedisConfig) (*redis.UniversalOptions, error) {
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
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("redis.tls.ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("redis.tls.ca: %s has no certificate in PEM form", c.CA)
		}
	}
	if (c.Certificate == "") != (c.Key == "") {
		return nil, fmt.Errorf("redis.tls.certificate: redis.tls.key belongs to it; write both or none")
	}
	if c.Certificate != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, fmt.Errorf("redis.tls.certificate: %w", err)
		}
		t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return t, nil
}

func timeout(c state.RedisConfig) time.Duration {
	if c.Timeout <= 0 {
		return defaultTimeout
	}
	return c.Timeout.Std()
}

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
