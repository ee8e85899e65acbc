package sink

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/otlp"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is one of telemetry.audit.sinks: a system that gets a copy of every record. It has the
// section of exactly one kind.
type Config struct {
	// Name identifies the sink, and the file that stores the sink's position: up to 32 letters,
	// digits, - and _. A sink with another name begins with the oldest record there is. Default:
	// the kind, such as postgres.
	Name string `yaml:"name"`

	// Batch is how many records the gateway sends at once, from 1 to 20000. Default 1000.
	Batch int `yaml:"batch"`

	// Timeout limits the sending of one batch, at least 1s. Then the gateway tries again. Default
	// 30s.
	Timeout quantity.Duration `yaml:"timeout"`

	// Postgres is a PostgreSQL database.
	Postgres *postgres.Config `yaml:"postgres"`

	// Kafka is a topic of Apache Kafka.
	Kafka *kafka.Config `yaml:"kafka"`

	// OTLP is a receiver of OpenTelemetry logs.
	OTLP *otlp.Config `yaml:"otlp"`
}

const (
	defaultBatch   = 1000
	maxBatch       = 20000
	defaultTimeout = 30 * time.Second
	minTimeout     = time.Second
)

func (c Config) batch() int {
	if c.Batch == 0 {
		return defaultBatch
	}
	return c.Batch
}

func (c Config) timeout() time.Duration {
	if c.Timeout == 0 {
		return defaultTimeout
	}
	return c.Timeout.Std()
}

// sections are those that are there.
// Check wants exactly one.
func (c Config) sections() []section {
	return slices.DeleteFunc(c.kinds(), func(s section) bool { return !s.there })
}

// name is that of the sink's file, of a configuration that was found good.
// Two sinks of one kind need names, since both would have that of the kind.
func (c Config) name() string {
	if c.Name == "" {
		return c.sections()[0].kind
	}
	return c.Name
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// CheckFiles reports every file that Open would refuse, of sinks that Check has found good.
// It is apart from Check, since `validate` may run where the files are not.
func CheckFiles(sinks []Config) error {
	var errs []error
	for i, c := range sinks {
		files := c.sections()[0].files
		if files == nil {
			continue
		}
		if err := files(); err != nil {
			errs = append(errs, keypath.At(err, "telemetry", "audit", "sinks", i))
		}
	}
	return errors.Join(errs...)
}

// Check reports every value that Open would refuse, but for files.
// Errors name the entry: telemetry.audit.sinks[1].kafka.topic.
func Check(sinks []Config) error {
	var errs []error
	taken := map[string]bool{}
	for i, c := range sinks {
		bad := func(err error, key ...any) {
			errs = append(errs, keypath.At(keypath.At(err, key...), "telemetry", "audit", "sinks", i))
		}
		if c.Batch < 0 || c.Batch > maxBatch {
			bad(fmt.Errorf("%d is not between 1 and %d", c.Batch, maxBatch), "batch")
		}
		if d := c.Timeout; d != 0 && d.Std() < minTimeout {
			bad(fmt.Errorf("%v is less than 1s", d), "timeout")
		}
		all := c.sections()
		if len(all) != 1 {
			bad(fmt.Errorf("%d kinds of sink, want exactly one of %s", len(all), kindNames()))
			continue
		}
		if err := all[0].check(); err != nil {
			bad(err, all[0].kind)
		}
		switch name := c.name(); {
		case !nameForm.MatchString(name):
			bad(fmt.Errorf("%q is not up to 32 letters, digits, - and _", name), "name")
		case taken[name]:
			bad(fmt.Errorf("another sink is %q already", name), "name")
		default:
			taken[name] = true
		}
	}
	return errors.Join(errs...)
}
