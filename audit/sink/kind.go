package sink

import (
	"context"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/otlp"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
)

// section is what a kind of sink is configured by.
type section struct {
	kind  string // the key, and the label of metrics
	there bool
	check func() error
	files func() error // those that it names

	// open makes the sink, for the log of that name. It connects to nobody.
	open func(log string, o Options) (Sink, error)
}

// kinds are the sections of all kinds there are, whether they are there or not.
func (c Config) kinds() []section {
	return []section{
		{"postgres", c.Postgres != nil, func() error { return c.Postgres.Check() }, func() error { return nil }, c.openPostgres},
		{"kafka", c.Kafka != nil, func() error { return c.Kafka.Check() }, func() error { return c.Kafka.CheckFiles() }, c.openKafka},
		{"otlp", c.OTLP != nil, func() error { return c.OTLP.Check() }, func() error { return c.OTLP.CheckFiles() }, c.openOTLP},
	}
}

func kindNames() string {
	var names []string
	for _, s := range (Config{}).kinds() {
		names = append(names, s.kind)
	}
	return strings.Join(names, ", ")
}

func (c Config) openPostgres(log string, o Options) (Sink, error) {
	return postgres.New(*c.Postgres, postgres.Options{Gateway: o.Gateway, Log: log, Logger: o.Telemetry.Log})
}

func (c Config) openKafka(log string, o Options) (Sink, error) {
	return kafka.New(*c.Kafka, kafka.Options{Gateway: o.Gateway, Log: log})
}

func (c Config) openOTLP(log string, o Options) (Sink, error) {
	about, err := o.Telemetry.Resource(context.Background())
	if err != nil {
		return nil, err
	}
	return otlp.New(*c.OTLP, otlp.Options{
		Gateway: o.Gateway, Log: log, Resource: about, Egress: o.Egress, Logger: o.Telemetry.Log, Lost: o.passedOver,
	})
}
