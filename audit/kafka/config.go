package kafka

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].kafka.
type Config struct {
	// Brokers are host:port of some brokers, which tell the gateway the others.
	Brokers []string `yaml:"brokers"`

	// Topic is the topic, which must exist. The gateway does not create it, because nobody would
	// have decided on its partitions, replicas and retention.
	Topic string `yaml:"topic"`

	// Compression of the records sent: none, gzip, snappy, lz4 or zstd. Default zstd.
	Compression string `yaml:"compression" jsonschema:"enum=none,enum=gzip,enum=snappy,enum=lz4,enum=zstd"`

	// MessageSize is the largest batch that the gateway sends to a partition, before compression,
	// from 64KiB to 64MiB. The topic must accept it (max.message.bytes, by default the broker's
	// message.max.bytes). Default 1MiB, which any record fits into, and which every broker accepts
	// unless it is configured otherwise.
	MessageSize quantity.Size `yaml:"messageSize"`

	// TLS turns TLS on, even if the section is empty.
	TLS *TLS `yaml:"tls"`

	// SASL says how the gateway authenticates. Default: not at all, or by its certificate.
	SASL *SASL `yaml:"sasl"`
}

// TLS is telemetry.audit.sinks[].kafka.tls.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`

	// Certificate and Key are PEM files of the gateway's client certificate. The gateway reads
	// them again for each connection.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`

	// ServerName is the name in the brokers' certificates; default the host of their address.
	ServerName string `yaml:"serverName"`
}

// SASL is telemetry.audit.sinks[].kafka.sasl.
type SASL struct {
	// Mechanism is PLAIN (only with tls), SCRAM-SHA-256 or SCRAM-SHA-512. Default SCRAM-SHA-512.
	Mechanism string `yaml:"mechanism" jsonschema:"enum=PLAIN,enum=SCRAM-SHA-256,enum=SCRAM-SHA-512"`

	// Username and Password are the gateway's.
	Username string       `yaml:"username"`
	Password secret.Value `yaml:"password"`
}
