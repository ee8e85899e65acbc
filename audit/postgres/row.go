//go:build !minimal

package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// record is what has columns of its own.
// Names of columns are those of the record's members, so that whoever knows docs/audit.md can
// query.
type record struct {
	Gateway    string    `json:"gateway"`
	Hash       string    `json:"hash"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`
	Event      string    `json:"event"`
	RequestID  string    `json:"request_id"`
	TraceID    string    `json:"trace_id"`
	Principal  string    `json:"principal"`
	Issuer     string    `json:"issuer"`
	Client     string    `json:"client"`
	Tenant     string    `json:"tenant"`
	Agent      string    `json:"agent"`
	Skill      string    `json:"skill"`
	Method     string    `json:"method"`
	Decision   string    `json:"decision"`
	Rule       string    `json:"rule"`
	Reason     string    `json:"reason"`
	Status     *int32    `json:"status"`
	TaskID     string    `json:"task_id"`
	ContextID  string    `json:"context_id"`
	ClientIP   string    `json:"client_ip"`
	DurationMS *float64  `json:"duration_ms"`
	Attrs      struct {
		Principal string `json:"principal"`
		Issuer    string `json:"issuer"`
		Who       string `json:"who"`
		Agent     string `json:"agent"`
		Skill     string `json:"skill"`
		TaskID    string `json:"task_id"`
		ClientIP  string `json:"client_ip"`
	} `json:"attrs"`
}

// columns are those of the table, in the order of values.
// A new column is added behind the others by a step of schema.sql and here.
var columns = []string{
	"gateway", "seq", "day", "digest", "time", "type", "event", "request_id", "trace_id", "principal", "issuer",
	"client", "tenant", "agent", "skill", "method", "decision", "rule", "reason", "status", "task_id", "context_id",
	"client_ip", "duration_ms", "record",
}

// read reads a record. What an event is about counts like what a call is about.
func (r *record) read(e reader.Entry) error {
	*r = record{}
	if err := json.Unmarshal(e.Line, r); err != nil || r.Type == "" || r.Time.IsZero() {
		return fmt.Errorf("record %d in %s: it is no record of an audit log", e.Seq, e.Cursor.Segment)
	}
	if r.Type == "event" {
		a := r.Attrs
		r.Principal, r.Issuer, r.Agent, r.Skill, r.TaskID, r.ClientIP = a.Principal, a.Issuer, a.Agent, a.Skill, a.TaskID, a.ClientIP
		if r.Principal == "" {
			r.Principal = a.Who
		}
	}
	return nil
}

// day is the UTC day of a record, which decides on its partition.
func (r *record) day() time.Time { return r.Time.UTC().Truncate(24 * time.Hour) }

// digest is the record's hash, and for one from before there were any a digest of its
// own. Numbers of a log that was lost and made anew come again; no digest does.
// With gateway, number and day it is the primary key.
func (r *record) digest(line []byte) []byte {
	if sum, err := hex.DecodeString(r.Hash); err == nil && len(sum) == sha256.Size {
		return sum
	}
	sum := sha256.Sum256(line)
	return sum[:]
}

// values are the columns of a row.
// The line itself is stored as text and not as jsonb, which would reorder its members and break its
// hash.
func (r *record) values(e reader.Entry) []any {
	return []any{
		r.Gateway, int64(e.Seq), r.day(), r.digest(e.Line), r.Time, r.Type, //nolint:gosec // numbers have 18 digits at most
		text(r.Event), text(r.RequestID), text(r.TraceID), text(r.Principal), text(r.Issuer),
		text(r.Client), text(r.Tenant), text(r.Agent), text(r.Skill), text(r.Method), text(r.Decision), text(r.Rule),
		text(r.Reason), r.Status, text(r.TaskID), text(r.ContextID), text(r.ClientIP), r.DurationMS, string(e.Line),
	}
}

// text is NULL for what is not in a record.
// A NULL takes a bit in a row where an empty string takes a byte, and is what SQL has for "not
// said".
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
