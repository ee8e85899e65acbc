package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
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
	Retention secret.Duration `yaml:"retention" zero:"kept"`
}

const (
	defaultTable = "a2a_audit"
	minRetention = 24 * time.Hour
)

// A name is short enough for those of partitions and indexes, which have more behind.
var tableForm = regexp.MustCompile(`^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$`)

func (c Config) table() string {
	if c.Table == "" {
		return defaultTable
	}
	return c.Table
}

// Check reports every value that New would refuse.
// Errors do not show the URL, which usually has a password in it.
func (c Config) Check() error {
	var errs []error
	if c.URL.IsZero() {
		errs = append(errs, keypath.Point(errors.New("url is missing"), "url"))
	} else if _, err := pgx.ParseConfig(c.URL.Reveal()); err != nil {
		errs = append(errs, keypath.At(errors.New("it is no address of a PostgreSQL database"), "url")) // the error may have the password in it
	}
	if !tableForm.MatchString(c.table()) {
		errs = append(errs, keypath.At(fmt.Errorf("%q is not a name of up to 40 small letters, digits and _", c.Table), "table"))
	}
	if d := c.Retention; d != 0 && d.Std() < minRetention {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 1d", d), "retention"))
	}
	return errors.Join(errs...)
}

// names are identifiers as they stand in statements.
// Identifiers cannot be parameters of a statement; Check allows nothing in them that would need
// quoting, and they are quoted all the same.
type names struct {
	table, places string
	schema, bare  string // unquoted; schema is empty for the first of the search path
}

func (c Config) names() names {
	schema, bare, ok := strings.Cut(c.table(), ".")
	// Without a schema the first of the search path counts, as in any statement.
	if !ok {
		schema, bare = "", schema
	}
	n := names{schema: schema, bare: bare}
	n.table, n.places = n.beside(""), n.beside("_places")
	return n
}

// beside is the identifier of something that is named after the table.
func (n names) beside(suffix string) string {
	if n.schema == "" {
		return pgx.Identifier{n.bare + suffix}.Sanitize()
	}
	return pgx.Identifier{n.schema, n.bare + suffix}.Sanitize()
}
