//go:build !minimal

package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestTry: what keeps records from a database is said, and nothing is made there.
func TestTry(t *testing.T) {
	t.Parallel()
	s := anybodys(t) // whose other users are superusers: what is taken from others is nothing to them
	for _, statement := range []string{
		"CREATE ROLE try_reader LOGIN", "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC", "GRANT TEMPORARY ON DATABASE postgres TO try_reader",
		"CREATE ROLE try_nobody LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC", "CREATE TABLE try_other (a int)",
	} {
		do(t, s, statement)
	}
	as := func(user, more string) string { return strings.Replace(s.URL(), "postgres@", user+"@", 1) + more }
	made := s.config()
	_ = place(t, sinkOf(t, made, "gw", "log")) // makes the table
	for name, c := range map[string]struct{ url, table, want string }{
		"all as it should be":  {s.URL(), s.config().Table, ""},
		"the table is there":   {s.URL(), made.Table, ""},
		"nobody":               {"postgres://reader:CANARY@127.0.0.1:1/audit?sslmode=disable", "", "url: "},
		"no such database":     {strings.Replace(s.URL(), "/postgres?", "/missing?", 1), "", "url: "},
		"no such user":         {as("somebody:CANARY", ""), "", "url: "},
		"somebody else's":      {s.URL(), "try_other", `table "try_other" is there and is not for audit records`},
		"read only":            {s.URL() + "&default_transaction_read_only=on", s.config().Table, "url: the database can only be read from"},
		"may not make a table": {as("try_reader", ""), s.config().Table, "the user lacks the right CREATE in the schema"},
		"may not add records":  {as("try_reader", ""), made.Table, "the user lacks the right INSERT into the table"},
		"may nothing":          {as("try_nobody", ""), made.Table, "the user lacks the right TEMPORARY in the database"},
	} {
		err := postgres.Try(t.Context(), postgres.Config{URL: secret.New(c.url), Table: c.table})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case err != nil && (strings.Contains(err.Error(), "CANARY") || strings.Contains(err.Error(), "reader:")):
			t.Errorf("%s: shows a secret: %v", name, err)
		}
		if c.want == "" && c.table != made.Table && ask[bool](t, s, "SELECT to_regclass($1) IS NOT NULL", c.table) {
			t.Errorf("%s: it has made a table", name)
		}
	}
}

// do runs a statement.
func do(t *testing.T, s *server, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
