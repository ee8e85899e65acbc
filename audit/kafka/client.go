//go:build !minimal

package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// The values of SASL.Mechanism.
const (
	plainText = "PLAIN"
	scram256  = "SCRAM-SHA-256"
	scram512  = "SCRAM-SHA-512"
)

// The names are those of the broker setting compression.type.
func codecs() map[string]kgo.CompressionCodec {
	return map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
}

const (
	dialTimeout = 5 * time.Second

	// tries are how often records are sent that a broker does not take for a while, some
	// eight seconds: as long as it takes to restart one, and less than the timeout of the
	// sink, so that it is the broker's word that is heard and not that time is up.
	tries        = 10
	firstBackoff = 100 * time.Millisecond
	longBackoff  = time.Second

	// unknownTries are how often a topic may be unknown. A broker that has just begun to
	// lead a partition does not know it for a moment.
	unknownTries = 2

	metadataPause = 250 * time.Millisecond
)

// options are those of each client.
// Hosts of brokers come from the cluster's metadata after the first connection: a firewall has to
// let the gateway reach all of them, and not only those that are configured.
func options(c Config, f *faults) ([]kgo.Opt, error) {
	all := []kgo.Opt{
		kgo.ClientID("a2a-gateway"),
		kgo.SeedBrokers(c.Brokers...),
		kgo.DialTimeout(dialTimeout),
		kgo.MetadataMinAge(metadataPause),
		kgo.RetryBackoffFn(func(n int) time.Duration { return min(firstBackoff<<min(n, 10), longBackoff) }),
		kgo.DisableClientMetrics(), // brokers would ask for them
		kgo.WithHooks(f),

		kgo.DefaultProduceTopic(c.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), // by the key, as clients in Java do
		kgo.ProducerBatchCompression(codecs()[c.compression()]),
		kgo.ProducerBatchMaxBytes(c.messageSize()),
		kgo.ManualFlushing(),            // Put knows what a batch is
		kgo.MaxBufferedRecords(1 << 20), // which are more than a batch has
		kgo.RecordRetries(tries),
		kgo.UnknownTopicRetries(unknownTries),
	}
	if c.SASL != nil {
		all = append(all, kgo.SASL(mechanism(*c.SASL)))
	}
	if c.TLS != nil {
		t, err := tlsConfig(*c.TLS)
		if err != nil {
			return nil, err
		}
		all = append(all, kgo.DialTLSConfig(t))
	}
	return all, nil
}

// The password is revealed here and nowhere else; it is in no error of the client.
func mechanism(c SASL) sasl.Mechanism {
	switch c.mechanism() {
	case plainText:
		return plain.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsMechanism()
	case scram256:
		return scram.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsSha256Mechanism()
	default:
		return scram.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsSha512Mechanism()
	}
}

// CheckFiles reports every file that New would refuse.
func (c Config) CheckFiles() error {
	if c.TLS == nil {
		return nil
	}
	_, err := tlsConfig(*c.TLS)
	return err
}

// tlsConfig reads the files once, to refuse what is wrong with them, and the certificate
// again for each connection, as it is renewed from time to time.
func tlsConfig(c TLS) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("kafka.tls.ca: %s has no certificate in PEM form", c.CA)
		}
	}
	if c.Certificate != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, fmt.Errorf("kafka.tls.certificate: %w", err)
		}
		t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return t, nil
}
