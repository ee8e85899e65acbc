//go:build minimal

package postgres

import (
	"context"
	"log/slog"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway string       // whose log it is
	Log     string       // a name of the log that no other has
	Logger  *slog.Logger // told about what does not concern the records that come
}

// Sink is the sink that this build has not got: New never returns one.
type Sink struct{}

// Check refuses the section, whatever is in it.
func (Config) Check() error { return feature.Need(feature.Postgres) }

// New refuses, as Check does.
func New(Config, Options) (*Sink, error) { return nil, feature.Need(feature.Postgres) }

// Try refuses, as Check does.
func Try(context.Context, Config) error { return feature.Need(feature.Postgres) }

// Put is never called, for want of a Sink.
func (*Sink) Put(context.Context, []reader.Entry) error { return feature.Need(feature.Postgres) }

// Close is never called, for want of a Sink.
func (*Sink) Close() error { return nil }
