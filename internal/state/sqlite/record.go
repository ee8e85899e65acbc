package sqlite

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

var errTorn = errors.New("state: a record in the file is damaged")

// row is a record as the file has it.
type row struct {
	agent, id, owner, tenant, skill, context []byte
	endpoint, version, extensions, trace     []byte
	kind                                     int64
	created, used                            int64
}

// scanner is what *sql.Row and *sql.Rows share.
type scanner interface{ Scan(dest ...any) error }

// read fills a row from columns.
func (r *row) read(from scanner) error {
	return from.Scan(&r.agent, &r.kind, &r.id, &r.owner, &r.tenant, &r.skill, &r.context,
		&r.endpoint, &r.version, &r.extensions, &r.created, &r.used, &r.trace)
}

// rowOf is what columns hold of a record that is used now.
func rowOf(r state.Record, now time.Time) row {
	if r.Created.IsZero() {
		r.Created = now
	}
	return row{
		agent: []byte(r.Agent), kind: int64(r.Kind), id: []byte(r.ID), owner: []byte(r.Owner), tenant: []byte(r.Tenant),
		skill: []byte(r.Skill), context: []byte(r.Context), endpoint: []byte(r.Endpoint), version: []byte(r.Version),
		extensions: pack(r.Extensions), created: r.Created.UnixNano(), used: now.Unix(),
		trace: []byte(r.Trace),
	}
}

// values are the columns of r in the order of columns, for an INSERT.
func (r *row) values() []any {
	return []any{
		r.agent, r.kind, r.id, r.owner, r.tenant, r.skill, r.context,
		r.endpoint, r.version, r.extensions, r.created, r.used, r.trace,
	}
}

// use is the name under which the use of the row is noted.
func (r *row) use() use {
	return use{kind: state.Kind(r.kind), agent: string(r.agent), id: string(r.id)} //nolint:gosec // written from a Kind
}

// record is the inverse of rowOf. An error says that extensions cannot be read: the file was damaged
// or changed by something else, and nobody is to be let in by what is left.
func (r *row) record() (state.Record, error) {
	extensions, err := unpack(r.extensions)
	return state.Record{
		Agent: string(r.agent), Kind: state.Kind(r.kind), ID: string(r.id), //nolint:gosec // written from a Kind
		Owner: string(r.owner), Tenant: string(r.tenant), Skill: string(r.skill), Context: string(r.context),
		Endpoint: string(r.endpoint), Version: string(r.version), Extensions: extensions,
		Created: time.Unix(0, r.created).UTC(), Trace: string(r.trace),
	}, err
}

// pack writes a list with the length of each before it. It is never nil, which would be
// no value at all.
func pack(list []string) []byte {
	b := []byte{}
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// unpack is the inverse of pack. The empty list comes back as nil.
func unpack(b []byte) ([]string, error) {
	var list []string
	for len(b) > 0 {
		n, width := binary.Uvarint(b)
		if width <= 0 || n > uint64(len(b)-width) { //nolint:gosec // never below zero
			return nil, errTorn
		}
		list = append(list, string(b[width:width+int(n)])) //nolint:gosec // not above the length of b
		b = b[width+int(n):]                               //nolint:gosec // as above
	}
	return list, nil
}
