//go:build minimal

package kafka

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway string // whose log it is
	Log     string // a name of the log that no other has
}

// Sink is the sink that this build has not got: New never returns one.
type Sink struct{}

// Check refuses the section, whatever is in it.
func (Config) Check() error { return feature.Need(feature.Kafka) }

// CheckFiles has nothing to add to Check.
func (Config) CheckFiles() error { return nil }

// New refuses, as Check does.
func New(Config, Options) (*Sink, error) { return nil, feature.Need(feature.Kafka) }

// Put is never called, for want of a Sink.
func (*Sink) Put(context.Context, []reader.Entry) error { return feature.Need(feature.Kafka) }

// Close is never called, for want of a Sink.
func (*Sink) Close() error { return nil }
