//go:build !minimal

// Package postgres is the sink of audit records that is a table of PostgreSQL.
//
// It owns the table: its schema, a partition per day, and the columns beside the record
// itself, which stands there byte for byte, so that what is selected in the order of seq
// can be verified like the files. It also keeps there how far it has come, in the
// transaction of the records: each of them is in the table once. It may import
// audit/reader and internal/secret.
//
// One Put is one transaction: rows are copied (COPY) into a temporary table, inserted from there
// with ON CONFLICT DO NOTHING, and the place of the log is updated. Either all of it is there or
// none, so that a record is neither lost nor doubled, whatever connection broke at whatever moment.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

var _ = feature.Register(feature.Postgres)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway string       // whose log it is
	Log     string       // a name of the log that no other has
	Logger  *slog.Logger // told about what does not concern the records that come
}

// Sink writes to one table. It is for one goroutine.
type Sink struct {
	config  Config
	names   names
	gateway string
	log     string
	logger  *slog.Logger

	conn     *pgx.Conn          // nil while there is none
	days     map[time.Time]bool // that have partitions
	dropNext time.Time
}

// New makes a sink. It connects when it has to, so that a database that is away keeps no gateway
// from starting.
func New(c Config, o Options) (*Sink, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Sink{config: c, names: c.names(), gateway: o.Gateway, log: o.Log, logger: o.Logger, days: map[time.Time]bool{}}, nil
}

// connected runs f with a connection whose schema is as it should be. After an error the
// next one begins with a connection of its own.
// A connection is kept between batches and dropped after any error: whether it is still good would
// take a question to find out, and connecting again answers that.
func (s *Sink) connected(ctx context.Context, f func(*pgx.Conn) error) error {
	if s.conn == nil {
		conn, err := s.connect(ctx)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		s.conn = conn
	}
	err := f(s.conn)
	if err != nil {
		clear(s.days) // it may be another database
		_ = s.Close() // err says what is wrong
	}
	return err
}

// connect makes a connection, with the schema and the temporary table that Put copies into. That
// table is the connection's own: two gateways that write to one database do not meet in it, and
// its rows are gone with each transaction.
//
// Errors do not have the URL in them, which holds the password.
func (s *Sink) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(s.config.URL.Reveal())
	if err != nil {
		return nil, errors.New("url: it is no address of a PostgreSQL database")
	}
	// It is what pg_stat_activity shows.
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "a2a-gateway"
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, secret.URL(s.config.URL.Reveal()).Hide(err) // it names the user
	}
	if err = s.prepare(ctx, conn); err == nil {
		_, err = conn.Exec(ctx, "CREATE TEMPORARY TABLE incoming (LIKE "+s.names.table+") ON COMMIT DELETE ROWS")
	}
	if err != nil {
		return nil, errors.Join(err, closed(conn))
	}
	return conn, nil
}

// Place is how far the table has come.
// The zero cursor is returned where the table has nothing of this log: then all records come.
func (s *Sink) Place(ctx context.Context) (at reader.Cursor, err error) {
	err = s.connected(ctx, func(conn *pgx.Conn) error {
		var text []byte
		err := conn.QueryRow(ctx, "SELECT place FROM "+s.names.places+" WHERE gateway = $1 AND log = $2", s.gateway, s.log).Scan(&text)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &at)
	})
	return at, err
}

// Put adds records, of which some may be there already, and keeps how far that is.
// It implements sink.Sink. Entries must not be empty.
//
// Some are there already after a commit whose answer was lost, and where the files are read again
// from an earlier place. They are passed over, not compared: whether a row is what the file says,
// its hash tells.
func (s *Sink) Put(ctx context.Context, entries []reader.Entry) error {
	rows, days, err := rowsOf(entries)
	if err != nil {
		return err
	}
	place, err := json.Marshal(entries[len(entries)-1].Cursor)
	if err != nil {
		return err
	}
	return s.connected(ctx, func(conn *pgx.Conn) error {
		// Old partitions go when there is something to write; a sink without records drops none.
		s.drop(ctx, conn, time.Now())
		// Partitions are made in a transaction of their own, which other gateways have to wait for.
		if err := s.provide(ctx, conn, days); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return s.add(ctx, tx, rows, place) })
	})
}

// rowsOf makes the rows, and says which days' partitions they need. A line that is no record of the
// log is an error, and nothing of the batch is stored: what cannot be read cannot be put under its
// day.
func rowsOf(entries []reader.Entry) (rows [][]any, days map[time.Time]bool, err error) {
	rows, days = make([][]any, len(entries)), map[time.Time]bool{}
	var r record
	for i, e := range entries {
		if err := r.read(e); err != nil {
			return nil, nil, err
		}
		rows[i], days[r.day()] = r.values(e), true
	}
	return rows, days, nil
}

// add stores rows and place in one transaction. COPY cannot pass over rows that are there already,
// which is why it does not write to the table itself; row by row would be a round trip for each.
func (s *Sink) add(ctx context.Context, tx pgx.Tx, rows [][]any, place []byte) error {
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"pg_temp", "incoming"}, columns, pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("copy records: %w", err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO "+s.names.table+" SELECT * FROM pg_temp.incoming ON CONFLICT DO NOTHING"); err != nil {
		return fmt.Errorf("insert records: %w", err)
	}
	_, err := tx.Exec(ctx, "INSERT INTO "+s.names.places+" (gateway, log, place) VALUES ($1, $2, $3) "+
		"ON CONFLICT (gateway, log) DO UPDATE SET place = excluded.place, updated = now()", s.gateway, s.log, string(place))
	if err != nil {
		return fmt.Errorf("keep the place: %w", err)
	}
	return nil
}

// Close ends the connection, if there is one.
func (s *Sink) Close() error {
	if s.conn == nil {
		return nil
	}
	conn := s.conn
	s.conn = nil
	return closed(conn)
}

// closed closes a connection, without waiting for a server that does not answer.
func closed(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return conn.Close(ctx)
}
