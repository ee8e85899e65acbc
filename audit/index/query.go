package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Query is what is asked for: records that are all of it. What is empty is not asked for.
// Of events, the attributes of the same name count. In texts a star stands for any run of characters:
// such a question goes through all records that are the rest of it.
// The command line and the console fill it; Check says what is wrong with it in words for both.
type Query struct {
	Principal string // the caller's subject
	Agent     string
	Skill     string
	Task      string
	Context   string
	Method    string // under its 1.0 name, or that of an older version
	Decision  string // allow, deny or error
	Reason    string // why a call did not go well, as in RATE_LIMITED
	Issuer    string // whose tokens the caller signed in with
	Rule      string // the rule that decided, or the limit that refused the call
	Stage     string // of the request path, which refused the call: one of refusal.Stages
	Type      string // intent, call or event; the default is calls and events
	Event     string // kind of event
	Approval  string // id of the approval that a call waited for, or went with
	Guard     string // a guard that found something in the call; * for any
	Finding   string // kind of what a guard found there; with Guard, of what that one found

	From, Until time.Time // when the record was made: from the first on, before the second
	Limit       int       // so many at most; 0 for all
	Oldest      bool      // the oldest first, in place of the newest
	Behind      uint64    // only those that come behind the record of this number, in that order; 0 for all
}

// Texts are the members of a query that are texts of records, by the names that flags and parameters have for them.
var Texts = map[string]func(*Query) *string{
	"caller":  func(q *Query) *string { return &q.Principal },
	"agent":   func(q *Query) *string { return &q.Agent },
	"skill":   func(q *Query) *string { return &q.Skill },
	"task":    func(q *Query) *string { return &q.Task },
	"context": func(q *Query) *string { return &q.Context },
	"method":  func(q *Query) *string { return &q.Method },
	"event":   func(q *Query) *string { return &q.Event },
	"guard":   func(q *Query) *string { return &q.Guard },
	"finding": func(q *Query) *string { return &q.Finding },
	"reason":  func(q *Query) *string { return &q.Reason },
	"issuer":  func(q *Query) *string { return &q.Issuer },
	"rule":    func(q *Query) *string { return &q.Rule },

	"approval": func(q *Query) *string { return &q.Approval },
}

// IsID reports whether a text of a query, by its name in Texts, is an id, which people copy and do not type.
func IsID(name string) bool { return name == "task" || name == "context" || name == "approval" }

// clean is the query as records have its texts. It works on a copy, which is what q is here.
func (q Query) clean() Query {
	// Records have cleaned texts, so that a query for a name with a control character has to look
	// for the cleaned one.
	for _, of := range Texts {
		*of(&q) = telemetry.Clean(*of(&q))
	}
	q.Method = recorded(q.Method)
	return q
}

// recorded is the 1.0 name of a method, which records have, by any name that it has had; name itself where A2A
// has no such method, as of an extension's.
func recorded(name string) string {
	for _, v := range []wire.Version{wire.V10, wire.V03, wire.V01} {
		if m, ok := wire.ByName(v, name); ok {
			return m.Name
		}
	}
	return name
}

// Check reports what could never be found, in place of an empty answer, which would be taken for
// "there was no such call".
func (q Query) Check() error {
	switch q.Decision {
	case "", "allow", "deny", "error":
	default:
		return fmt.Errorf("decision %q is not one of allow, deny, error", q.Decision)
	}
	if q.Type != "" && types[q.Type] == 0 {
		return fmt.Errorf("type %q is not one of intent, call, event", q.Type)
	}
	if q.Stage != "" && !slices.Contains(refusal.Stages(), q.Stage) {
		return fmt.Errorf("stage %q is not one of %s", q.Stage, strings.Join(refusal.Stages(), ", "))
	}
	switch {
	case q.Method != "" && q.Event != "":
		return errors.New("calls have a method and events have a kind: ask for one of them")
	case q.Method != "" && q.Type == "event":
		return errors.New("events have a kind and no method")
	case q.Event != "" && q.Type != "" && q.Type != "event":
		return fmt.Errorf("records of type %s have a method and no kind of event", q.Type)
	}
	if !q.Until.IsZero() && !q.From.Before(q.Until) {
		return errors.New("it ends before it begins")
	}
	return nil
}

// match reports whether a record is one that is asked for. The query has been cleaned. It is what
// decides in the end, for Find as for Scan: what the index has are digests of four bytes, and
// stretches of time that are wider than was asked for.
func (q *Query) match(f *fields) bool {
	return is(q.Principal, f.Principal) && is(q.Agent, f.Agent) && is(q.Skill, f.Skill) && is(q.Task, f.Task) &&
		is(q.Context, f.Context) && is(q.Method, f.Method) && is(q.Decision, f.Decision) && is(q.Reason, f.Reason) && is(q.Event, f.Event) &&
		is(q.Issuer, f.Issuer) && is(q.Rule, f.Rule) && is(q.Stage, f.Stage) && is(q.Approval, f.Approval) && q.found(f) &&
		(is(q.Type, f.Type) && q.Type != "" || q.Type == "" && (f.Type == "call" || f.Type == "event")) &&
		!q.passed(f.Seq) && !f.Time.Before(q.From) && (q.Until.IsZero() || f.Time.Before(q.Until))
}

// found reports whether a guard found what is asked for in the call, of those findings that its record has.
func (q *Query) found(f *fields) bool {
	return q.Guard == "" && q.Finding == "" || slices.ContainsFunc(f.Guards, func(g finding) bool {
		return is(q.Guard, g.Guard) && is(q.Finding, g.Kind)
	})
}

// star stands in a text that is asked for in place of any run of characters, also of none.
const star = "*"

// is reports whether a record has what is asked for, or one that a pattern takes.
func is(want, got string) bool {
	if !strings.Contains(want, star) {
		return want == "" || want == got
	}
	glob := pattern.NewGlob(want)
	return glob.Match(got)
}

// passed reports whether a record comes before those that are asked for.
// It is what pages of results go on by: a number does not move when records come, as an offset
// would.
func (q *Query) passed(seq uint64) bool {
	return q.Behind != 0 && (q.Oldest && seq <= q.Behind || !q.Oldest && seq >= q.Behind)
}

// Scan finds records by reading all of a log, in its order.
// It costs reading all of the log, and needs no file beside it: `audit query --no-index`. The order
// is that of the log whatever the query says, since nothing is held back to be sorted.
func Scan(ctx context.Context, source reader.Source, q Query) iter.Seq2[reader.Entry, error] {
	q = q.clean()
	return func(yield func(reader.Entry, error) bool) {
		var f fields
		var lost *reader.LostError
		n := 0
		for e, err := range source.Records(ctx, reader.Cursor{}) {
			if errors.As(err, &lost) {
				continue // there is nothing to be found of them
			}
			if err == nil {
				err = f.read(e.Line)
			}
			if err != nil {
				yield(reader.Entry{}, err)
				return
			}
			if !q.match(&f) {
				continue
			}
			if !yield(e, nil) {
				return
			}
			if n++; n == q.Limit {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(reader.Entry{}, err)
		}
	}
}

// Find finds records by the index, as far as Update has brought it. It reads the records themselves
// from the segments, so that nothing is an answer that is not in the log.
func (i *Index) Find(ctx context.Context, q Query) iter.Seq2[reader.Entry, error] {
	q = q.clean()
	return func(yield func(reader.Entry, error) bool) {
		var f fields
		rows, err := i.hits(ctx, &q)
		if err != nil {
			yield(reader.Entry{}, fmt.Errorf("index: %w", err))
			return
		}
		defer func() { _ = rows.Close() }() // its error is that of Err
		left := q.Limit
		for {
			places, err := next(rows, cmp.Or(left, page))
			if err == nil && len(places) == 0 {
				return
			}
			var lines [][]byte
			if err == nil {
				lines, err = i.source.Lines(places)
			}
			if err != nil {
				yield(reader.Entry{}, fmt.Errorf("index: %w", err))
				return
			}
			for k, line := range lines {
				// It may have been removed since, and another name may have the same digest.
				if line == nil || f.read(line) != nil || !q.match(&f) {
					continue
				}
				if !yield(reader.Entry{Seq: places[k].Seq, Line: line, Cursor: places[k].Cursor}, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			left = max(left, 0)
		}
	}
}

// page is how many records are read from the segments at once.
const page = 1000

// next is where the next records are: a page of them, so that a question that millions of records
// answer takes the memory of a thousand, and the first answers come before the last are found.
func next(rows *sql.Rows, n int) (places []reader.Place, err error) {
	for len(places) < min(n, page) && rows.Next() {
		var p reader.Place
		if err := rows.Scan(&p.Seq, &p.Segment, &p.Offset, &p.Length); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, rows.Err()
}
