//go:build !minimal

package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

const (
	defaultTable = "a2a_audit"
	minRetention = 24 * time.Hour
)

// A name is short enough for those of partitions and indexes, which have more behind: PostgreSQL
// cuts off names at 63 bytes, and two that were cut alike would be one. Small letters need no
// quotes, so that people can write the name in queries as it stands in the configuration.
var tableForm = regexp.MustCompile(`^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$`)

func (c Config) table() string {
	if c.Table == "" {
		return defaultTable
	}
	return c.Table
}

// Check reports every value that New would refuse.
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
type names struct {
	table, places string
	schema, bare  string // unquoted; schema is empty for the first of the search path
}

func (c Config) names() names {
	schema, bare, ok := strings.Cut(c.table(), ".")
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
