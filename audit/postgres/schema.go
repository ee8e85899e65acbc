//go:build !minimal

package postgres

import (
	"context"
	_ "embed" // for the schema
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// steps lead from an empty database to the schema as it is. One that has been released is
// not changed any more; others are added behind it. $table and $places stand for the
// names.
//
//go:embed schema.sql
var schema string

// Each is one or more SQL statements. The first part of the file, before the first mark, is a
// comment.
func steps() []string { return strings.Split(schema, "\n-- step\n")[1:] }

// mark is the table's comment, behind which stands how many of the steps it has taken.
const mark = "a2a-gateway audit records, schema "

// locked runs f in a transaction that no other gateway has at the same time for this
// table. The lock is an advisory one, since before the first step there is no table to lock, and
// it is gone with the transaction, whatever ends that.
func (s *Sink) locked(ctx context.Context, conn *pgx.Conn, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", mark+s.names.table)
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// prepare makes the schema what it should be.
func (s *Sink) prepare(ctx context.Context, conn *pgx.Conn) error {
	return s.locked(ctx, conn, func(tx pgx.Tx) error {
		taken, err := s.taken(ctx, tx)
		if err != nil {
			return err
		}
		all := steps()
		if taken > len(all) {
			return fmt.Errorf("table %s is of a later version, %d, than %d", s.names.table, taken, len(all))
		}
		if taken == len(all) {
			return nil
		}
		for _, step := range all[taken:] {
			step = strings.NewReplacer("$table", s.names.table, "$places", s.names.places).Replace(step)
			if _, err := tx.Exec(ctx, step); err != nil {
				return fmt.Errorf("make table %s: %w", s.names.table, err)
			}
		}
		_, err = tx.Exec(ctx, fmt.Sprintf("COMMENT ON TABLE %s IS '%s%d'", s.names.table, mark, len(all)))
		return err
	})
}

// taken is how many steps there is nothing to do for.
func (s *Sink) taken(ctx context.Context, tx pgx.Tx) (int, error) {
	var comment *string
	err := tx.QueryRow(ctx, "SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass($1)", s.names.table).Scan(&comment)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if comment != nil {
		if digits, ok := strings.CutPrefix(*comment, mark); ok {
			return strconv.Atoi(digits)
		}
	}
	return 0, fmt.Errorf("table %s is there and is not for audit records", s.names.table)
}

const dayForm = "20060102" // behind the names of partitions

// provide makes the partitions of days, and those of the days after, so that records
// do not have to wait at midnight. A partition that is attached does not lock the others
// out, as one would that is created as such.
func (s *Sink) provide(ctx context.Context, conn *pgx.Conn, days map[time.Time]bool) error {
	missing := map[time.Time]bool{}
	for d := range days {
		for _, d := range []time.Time{d, d.AddDate(0, 0, 1)} {
			if !s.days[d] {
				missing[d] = true
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	err := s.locked(ctx, conn, func(tx pgx.Tx) error {
		for d := range missing {
			if err := s.partition(ctx, tx, d); err != nil {
				return fmt.Errorf("make the partition of %s: %w", d.Format(time.DateOnly), err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for d := range missing {
		s.days[d] = true
	}
	return nil
}

func (s *Sink) partition(ctx context.Context, tx pgx.Tx, day time.Time) error {
	name := s.names.beside("_" + day.Format(dayForm))
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&there); err != nil || there {
		return err
	}
	_, err := tx.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (LIKE %s); ALTER TABLE %[2]s ATTACH PARTITION %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')",
		name, s.names.table, day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly)))
	return err
}

const (
	dropEvery = time.Hour
	dropWait  = "5s" // records are not kept waiting longer than that for readers of old ones
)

// drop drops what is older than Config.Retention, once an hour. That it cannot is no
// reason not to take records.
func (s *Sink) drop(ctx context.Context, conn *pgx.Conn, now time.Time) {
	if s.config.Retention == 0 || now.Before(s.dropNext) {
		return
	}
	s.dropNext = now.Add(dropEvery)
	err := s.locked(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = to_regclass($1)", s.names.table)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+dropWait+"'"); err != nil {
			return err
		}
		for _, name := range all {
			of, _ := strings.CutPrefix(name, s.names.bare+"_") // not a part of the form: names may look like one
			day, err := time.Parse(dayForm, of)
			if err != nil || now.Sub(day.AddDate(0, 0, 1)) < s.config.Retention.Std() {
				continue
			}
			if _, err := tx.Exec(ctx, "DROP TABLE "+s.names.beside("_"+day.Format(dayForm))); err != nil {
				return err
			}
			delete(s.days, day)
			s.logger.Info("old audit records dropped", "sink", "postgres", "table", s.names.table, "day", day.Format(time.DateOnly))
		}
		return nil
	})
	if err != nil {
		s.logger.Warn("old audit records not dropped", "sink", "postgres", "table", s.names.table, "error", err)
	}
}
