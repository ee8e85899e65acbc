package postgres

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is telemetry.audit.sinks[].postgres.
type Config struct {
	// URL is the database, postgres://user:password@host:5432/name?sslmode=verify-full, or
	// the same as keywords and values. Several hosts may be named, of which one is the
	// primary. It has to be a session of the sink's own: no pooler that shares it between
	// transactions.
	URL secret.Value `yaml:"url"`

	// Table is the table, in lower case and with a schema in front if it is not in the
	// first of the search path: at most 40 letters, digits and _. It is made when it is
	// missing, and with it one of the same name and _places behind. Several gateways may
	// share it. Default a2a_audit.
	Table string `yaml:"table"`

	// Retention is how long after its day a record is kept, at least 1d. Records of a day
	// are dropped together. Default 0: for ever.
	Retention quantity.Duration `yaml:"retention" zero:"kept"`
}
