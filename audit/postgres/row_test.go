//go:build !minimal

package postgres

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// FuzzRow: whatever a line is, it is refused or has a value for each column.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{
		`{"seq":1,"type":"call","time":"2026-11-22T13:00:00Z","status":200,"duration_ms":1.5,"hash":"00"}`,
		`{"seq":2,"type":"event","time":"2026-11-22T13:00:00+14:00","attrs":{"who":"bob"}}`,
		`{"type":"call","time":"9999-12-31T23:59:59.999999999Z","status":null}`,
		`{"type":"call","time":"2026-11-22T13:00:00Z","status":3000000000}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r record
		e := reader.Entry{Seq: 1, Line: line}
		if r.read(e) != nil {
			return
		}
		values := r.values(e)
		if len(values) != len(columns) || r.day().After(r.Time) || len(r.digest(line)) != 32 {
			t.Errorf("%q is %v", line, values)
		}
	})
}
