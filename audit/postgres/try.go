//go:build !minimal

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Try connects to the database of a configuration, and says why records could not be put
// there. It changes nothing: who validates a configuration may be somebody else, with the
// configuration of a gateway that runs.
func Try(ctx context.Context, c Config) error {
	s, err := New(c, Options{})
	if err != nil {
		return err
	}
	config, err := pgx.ParseConfig(c.URL.Reveal())
	if err != nil {
		return errors.New("url: it is no address of a PostgreSQL database")
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("url: %w", secret.URL(c.URL.Reveal()).Hide(err))
	}
	return errors.Join(s.try(ctx, conn), closed(conn))
}

// try looks at the table, or at what would keep it from being made.
func (s *Sink) try(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
		taken, err := s.taken(ctx, tx)
		if err != nil {
			return err
		}
		if all := len(steps()); taken > all {
			return fmt.Errorf("table %s is of a later version, %d, than %d", s.names.table, taken, all)
		}
		var only string
		if err := tx.QueryRow(ctx, "SHOW transaction_read_only").Scan(&only); err != nil {
			return err
		}
		if only == "on" {
			return errors.New("url: the database can only be read from: is it a replica?")
		}
		return s.permitted(ctx, tx, taken > 0)
	})
}

// permitted says which right is missing, by asking for rights and not by trying: to try would be to
// make the table. As long as there is none, the right to make it is what counts; afterwards a
// user who may only write to it is enough.
func (s *Sink) permitted(ctx context.Context, tx pgx.Tx, made bool) error {
	var temporary, place bool
	what, question := "CREATE in the schema", "SELECT coalesce(has_schema_privilege(coalesce(nullif($1::text, ''), current_schema()), 'CREATE'), false)"
	argument := s.names.schema
	if made {
		what, question, argument = "INSERT into the table", "SELECT has_table_privilege($1::text, 'INSERT')", s.names.table
	}
	if err := tx.QueryRow(ctx, "SELECT has_database_privilege(current_database(), 'TEMPORARY')").Scan(&temporary); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, question, argument).Scan(&place); err != nil {
		return err
	}
	switch {
	case !temporary:
		return errors.New("the user lacks the right TEMPORARY in the database")
	case !place:
		return fmt.Errorf("the user lacks the right %s of %s", what, s.names.table)
	}
	return nil
}
