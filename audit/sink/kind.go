package sink

import (
	"context"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/otlp"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
)

// section is the registration of a kind of sink, bound to one entry of telemetry.audit.sinks: all
// that the gateway has to know of the kind beside the field of [Config] that holds its keys.
// Checking, opening, `validate --online`, the sum of a configuration that replicas compare and the
// label of metrics go by it, so that a new kind is one package, one field and one row of kinds.
type section struct {
	kind  string // the key of the section, the label of metrics and the default name of the sink
	there bool   // the entry has the section; nothing below may be called without it

	check func() error // says what open would refuse, of values alone
	files func() error // says what open would refuse, of files that the values name; nil: it names none

	// open makes the sink, for the log of that name. It connects to nobody: a place that is away
	// when the gateway starts must not keep it from starting.
	open func(log string, o Options) (Sink, error)

	// try connects once, for `validate --online`; nil where there is nothing that could be asked
	// without a record being stored.
	try func(ctx context.Context) error

	// own are keys of the section that may differ between replicas of one gateway, such as the
	// address of a collector on the same node.
	own []string
}

// kinds are the sections of all kinds there are, whether they are there or not.
func (c Config) kinds() []section {
	return []section{
		{
			kind: "postgres", there: c.Postgres != nil,
			check: func() error { return c.Postgres.Check() },
			open:  c.openPostgres,
			try:   func(ctx context.Context) error { return postgres.Try(ctx, *c.Postgres) },
		},
		{
			kind: "kafka", there: c.Kafka != nil,
			check: func() error { return c.Kafka.Check() },
			files: func() error { return c.Kafka.CheckFiles() },
			open:  c.openKafka,
		},
		{
			kind: "otlp", there: c.OTLP != nil,
			check: func() error { return c.OTLP.Check() },
			files: func() error { return c.OTLP.CheckFiles() },
			open:  c.openOTLP,
			own:   []string{"endpoint"},
		},
	}
}

// Kinds lists the kinds of sinks, as the configuration and the metrics name them.
func Kinds() (names []string) {
	for _, s := range (Config{}).kinds() {
		names = append(names, s.kind)
	}
	return names
}

// Own lists the keys below an entry of telemetry.audit.sinks that replicas of one gateway may each
// have their own of, as paths: {"otlp", "endpoint"}.
func Own() (paths [][]string) {
	for _, s := range (Config{}).kinds() {
		for _, key := range s.own {
			paths = append(paths, []string{s.kind, key})
		}
	}
	return paths
}

// Probe returns the kind of a sink that Check has found good, and what connects to its place once
// without storing a record; nil where nothing can be asked that way.
func (c Config) Probe() (kind string, try func(ctx context.Context) error) {
	s := c.sections()[0]
	return s.kind, s.try
}

// kindNames is the list of kinds as errors show it.
func kindNames() string { return strings.Join(Kinds(), ", ") }

func (c Config) openPostgres(log string, o Options) (Sink, error) {
	return postgres.New(*c.Postgres, postgres.Options{Gateway: o.Gateway, Log: log, Logger: o.Telemetry.Log})
}

func (c Config) openKafka(log string, o Options) (Sink, error) {
	return kafka.New(*c.Kafka, kafka.Options{Gateway: o.Gateway, Log: log})
}

// openOTLP makes the sink of OpenTelemetry logs. They carry the resource attributes that the
// gateway's own telemetry has (service.name, service.instance.id), so that a backend can join them.
func (c Config) openOTLP(log string, o Options) (Sink, error) {
	about, err := o.Telemetry.Resource(context.Background())
	if err != nil {
		return nil, err
	}
	return otlp.New(*c.OTLP, otlp.Options{
		Gateway: o.Gateway, Log: log, Resource: about, Egress: o.Egress, Logger: o.Telemetry.Log, Lost: o.passedOver,
	})
}
