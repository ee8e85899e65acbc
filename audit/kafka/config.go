package kafka

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
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
	MessageSize quantity.Size `yaml:"messageSize"`

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
