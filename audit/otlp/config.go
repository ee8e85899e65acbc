package otlp

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].otlp.
type Config struct {
	// Endpoint is the receiver's URL: https://collector.example:4318, or http:// for a receiver
	// without TLS. With HTTP, the gateway posts to /v1/logs if the URL has no path. With gRPC, the
	// URL has no path.
	Endpoint secret.URL `yaml:"endpoint"`

	// Protocol is http/protobuf, the default, or grpc.
	Protocol string `yaml:"protocol" jsonschema:"enum=http/protobuf,enum=grpc"`

	// Headers that the gateway sends with every request, such as a credential. Default: none.
	Headers []Header `yaml:"headers"`

	// Compression of requests is gzip, the default, or none.
	Compression string `yaml:"compression" jsonschema:"enum=gzip,enum=none"`

	// MaxRequest limits a request before compression, from 64KiB to 64MiB. The gateway sends a
	// longer record by itself. Default 4MiB, which is what receivers take by gRPC.
	MaxRequest quantity.Size `yaml:"maxRequest"`

	// GiveUp is how long the gateway retries a record that the receiver rejects when sent alone:
	// at least 1m. Then the gateway skips, logs and counts the record. Default 0: for ever, and
	// what comes after it waits.
	GiveUp quantity.Duration `yaml:"giveUp" zero:"kept"`

	// TLS says which CAs the gateway trusts and which certificate it shows. Default: the system's
	// CAs, and no certificate.
	TLS TLS `yaml:"tls"`
}

// Header is an entry of headers.
type Header struct {
	// Name is the header's name, such as Authorization.
	Name string `yaml:"name"`
	// Value is a secret, so the gateway never sends it where somebody on the way could read it.
	Value secret.Value `yaml:"value"`
}

// TLS is `tls:` of a sink. The gateway reads the files of the certificate again for each
// connection.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files of the gateway's client certificate.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in the receiver's certificate; default the host of endpoint.
	ServerName string `yaml:"serverName"`
}
