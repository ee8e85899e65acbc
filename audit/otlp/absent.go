//go:build minimal

package otlp

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway  string               // server.id
	Log      string               // a name of the log that no other has
	Resource []attribute.KeyValue // who sends, as spans have it
	Egress   *tunnel.Proxy        // the way to the receiver; nil is direct
	Logger   *slog.Logger

	// Lost is told of each record that is passed over, as Config.GiveUp says.
	Lost func(e reader.Entry, why error)
}

// Sink is the sink that this build has not got: New never returns one.
type Sink struct{}

// Check refuses the section, whatever is in it.
func (Config) Check() error { return feature.Need(feature.OTLPLogs) }

// CheckFiles has nothing to add to Check.
func (Config) CheckFiles() error { return nil }

// New refuses, as Check does.
func New(Config, Options) (*Sink, error) { return nil, feature.Need(feature.OTLPLogs) }

// Put is never called, for want of a Sink.
func (*Sink) Put(context.Context, []reader.Entry) error { return feature.Need(feature.OTLPLogs) }

// Close is never called, for want of a Sink.
func (*Sink) Close() error { return nil }
