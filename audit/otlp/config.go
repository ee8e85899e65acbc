package otlp

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].otlp.
type Config struct {
	// Endpoint is where the receiver is: https://collector.example:4318, or with http:// one
	// that needs no TLS. With HTTP, /v1/logs is what is posted to where there is no path; with
	// gRPC there is none.
	Endpoint secret.URL `yaml:"endpoint"`

	// Protocol is http/protobuf, the default, or grpc.
	Protocol string `yaml:"protocol" jsonschema:"enum=http/protobuf,enum=grpc"`

	// Headers go with every request, such as a credential. Default: none.
	Headers []Header `yaml:"headers"`

	// Compression of requests is gzip, the default, or none.
	Compression string `yaml:"compression" jsonschema:"enum=gzip,enum=none"`

	// MaxRequest bounds a request before it is compressed, from 64KiB to 64MiB. A record that
	// is longer goes by itself. Default 4MiB, which is what receivers take by gRPC.
	MaxRequest quantity.Size `yaml:"maxRequest"`

	// GiveUp is how long a record is tried that the receiver rejects, it and no other, before
	// it is passed over: at least 1m. That is logged and counted. Default 0: for ever, and
	// what comes after it waits.
	GiveUp quantity.Duration `yaml:"giveUp" zero:"kept"`

	// TLS says whom to trust and what to show. Default: the system's CAs, and nothing.
	TLS TLS `yaml:"tls"`
}

// Header is an entry of headers.
type Header struct {
	// Name is the header's, as Authorization.
	Name string `yaml:"name"`
	// Value is a secret, and so never sent where somebody on the way could read it.
	Value secret.Value `yaml:"value"`
}

// TLS is `tls:` of a sink. The files of the certificate are read again for each connection.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files that are shown.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in its certificate; default the host of endpoint.
	ServerName string `yaml:"serverName"`
}
