package kafka

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].kafka.
type Config struct {
	// Brokers are host:port of some brokers, which name the others.
	Brokers []string `yaml:"brokers"`

	// Topic is the topic. It has to be there: it is not made, as nobody would have decided
	// on its partitions, replicas and retention.
	Topic string `yaml:"topic"`

	// Compression of what is sent: none, gzip, snappy, lz4 or zstd. Default zstd.
	Compression string `yaml:"compression" jsonschema:"enum=none,enum=gzip,enum=snappy,enum=lz4,enum=zstd"`

	// MessageSize is the most that is sent as one batch of a partition, before it is
	// compressed, from 64KiB to 64MiB. The topic has to take it (max.message.bytes, by
	// default the broker's message.max.bytes). Default 1MiB, which every broker takes that
	// has not been told otherwise, and which any record fits into.
	MessageSize secret.Size `yaml:"messageSize"`

	// TLS is used when it is there, even if it is empty.
	TLS *TLS `yaml:"tls"`

	// SASL says who the gateway is. Default: nobody, or what its certificate says.
	SASL *SASL `yaml:"sasl"`
}

// TLS is telemetry.audit.sinks[].kafka.tls.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`

	// Certificate and Key are PEM files that the gateway shows. They are read again for
	// each connection.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`

	// ServerName is the name in the brokers' certificates; default the host of their address.
	ServerName string `yaml:"serverName"`
}

// SASL is telemetry.audit.sinks[].kafka.sasl.
type SASL struct {
	// Mechanism is PLAIN, which needs tls, SCRAM-SHA-256 or SCRAM-SHA-512. Default
	// SCRAM-SHA-512.
	Mechanism string `yaml:"mechanism" jsonschema:"enum=PLAIN,enum=SCRAM-SHA-256,enum=SCRAM-SHA-512"`

	// Username and Password are those of the gateway.
	Username string       `yaml:"username"`
	Password secret.Value `yaml:"password"`
}

const (
	defaultMessage = 1 << 20
	minMessage     = 64 << 10
	maxMessage     = 64 << 20
)

func (c Config) messageSize() int32 {
	if c.MessageSize == 0 {
		return defaultMessage
	}
	return int32(c.MessageSize) //nolint:gosec // Check bounds it
}

func (c Config) compression() string {
	if c.Compression == "" {
		return "zstd"
	}
	return c.Compression
}

func (c SASL) mechanism() string {
	if c.Mechanism == "" {
		return scram512
	}
	return c.Mechanism
}

// topicForm is what Kafka takes for a name.
var topicForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

// Check reports every value that New would refuse, but for what is wrong with files.
// Keys in errors are relative to the section; package sink puts the path of the entry before them.
func (c Config) Check() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, keypath.At(errors.New("none are named"), "brokers"))
	}
	for i, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			errs = append(errs, keypath.At(fmt.Errorf("%q is not host:port", b), "brokers", i))
		}
	}
	if !topicForm.MatchString(c.Topic) || strings.Trim(c.Topic, ".") == "" {
		errs = append(errs, keypath.At(fmt.Errorf("%q is not up to 249 letters, digits, ., - and _", c.Topic), "topic"))
	}
	if _, ok := codecs()[c.compression()]; !ok {
		errs = append(errs, keypath.At(fmt.Errorf("%q is not none, gzip, snappy, lz4 or zstd", c.Compression), "compression"))
	}
	if n := c.MessageSize; n != 0 && (n < minMessage || n > maxMessage) {
		errs = append(errs, keypath.At(fmt.Errorf("%v is not between 64KiB and 64MiB", n), "messageSize"))
	}
	if t := c.TLS; t != nil && (t.Certificate == "") != (t.Key == "") {
		errs = append(errs, keypath.At(errors.New("tls.key belongs to it; write both or none"), "tls", "certificate"))
	}
	if c.SASL != nil {
		errs = append(errs, c.SASL.check(c.TLS != nil))
	}
	return errors.Join(errs...)
}

// check takes whether what is sent is encrypted.
// SCRAM (RFC 5802) sends no password and may go without TLS; what is recorded can still be read
// then.
func (c SASL) check(encrypted bool) error {
	var errs []error
	switch c.mechanism() {
	case scram256, scram512:
	case plainText:
		if !encrypted {
			errs = append(errs, keypath.At(errors.New("PLAIN shows the password to everybody on the way; it needs tls"), "sasl", "mechanism"))
		}
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", c.Mechanism), "sasl", "mechanism"))
	}
	if c.Username == "" {
		errs = append(errs, keypath.Point(errors.New("sasl.username is missing"), "sasl", "username"))
	}
	if c.Password.IsZero() {
		errs = append(errs, keypath.Point(errors.New("sasl.password is missing"), "sasl", "password"))
	}
	return errors.Join(errs...)
}
