package records

import (
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// verification is the answer of POST /api/v1/audit/verify.
type verification struct {
	Intact   bool     `json:"intact" doc:"the verification found no faults"`
	Empty    bool     `json:"empty,omitzero" doc:"there are no records of the days that were asked for"`
	Records  int      `json:"records"`
	Segments int      `json:"segments"`
	From     int64    `json:"from" doc:"number of the first record; to has the number of the last one"`
	To       int64    `json:"to"`
	Signed   int64    `json:"signed" doc:"number of the last record that a checkpoint covers"`
	SignedAt string   `json:"signedAt,omitzero"`
	Unsigned int      `json:"unsigned" doc:"records after that one, which the next checkpoint will cover"`
	Removed  int64    `json:"removed,omitzero" doc:"number of the last record that retention removed"`
	Keys     []string `json:"keys" doc:"ids of the keys that signed"`
	Trusted  bool     `json:"trusted" doc:"the gateway's own keys signed"`
	Flaws    []flaw   `json:"findings"`
}

// flaw is something that is wrong with the audit log. Segment and Line say where in the
// files: the file's name, and the line counted from 1.
type flaw struct {
	Kind    string `json:"kind"`
	Segment string `json:"segment,omitzero"`
	Line    int    `json:"line,omitzero"`
	Text    string `json:"text"`
}

// verifier looks for what is wrong with the log. It reads the files of the log beside the
// gateway that writes them.
type verifier struct{ log Records }

// VerificationScreen has the log verified.
func VerificationScreen(log Records) api.Screen {
	s := &verifier{log}
	return api.Screen{
		Title: "Verification of the audit log",
		Operations: []api.Operation{
			{
				Method: http.MethodPost, Path: "/api/v1/audit/verify", ID: "verify-audit", Tag: "audit", Role: api.Operator,
				Summary: "Find changed, missing and moved records in the audit log, for at most 15 seconds",
				Params:  []api.Param{{Name: "from", Text: "first day, such as 2026-11-21"}, {Name: "to", Text: "last day"}},
				Out:     reflect.TypeFor[verification](), Errors: []api.Code{api.Busy}, Answer: s.verify,
			},
		},
	}
}

// verify reads the log, and changes nothing. Days are in UTC. How long it may take is the
// deadline of the request; a log that is longer than that is verified by days, or with the
// command line.
func (s *verifier) verify(c *api.Call) (any, error) {
	from, err := c.Time("from", time.DateOnly)
	if err != nil {
		return nil, err
	}
	to, err := c.Time("to", time.DateOnly)
	if err != nil {
		return nil, err
	}
	if !to.IsZero() && to.Before(from) {
		return nil, c.InvalidParameter("to is before from: it ends before it begins")
	}
	r, err := s.log.Verify(c.Context(), from, to)
	if err != nil {
		return nil, err
	}
	return verificationOf(r), nil
}

// verificationOf is a report as JSON has it. A log without findings has an empty list of
// them, and Trusted says that the keys which signed it are among the gateway's own: a log
// that somebody made up and signed with other keys is intact, but not trusted.
func verificationOf(r *audit.Report) verification {
	number := func(seq uint64) int64 { return int64(seq) } //nolint:gosec // numbers have 18 digits at most
	v := verification{
		Intact: len(r.Findings) == 0, Empty: r.Empty, Records: r.Records, Segments: r.Segments, From: number(r.From), To: number(r.To),
		Signed: number(r.Signed), SignedAt: r.SignedAt, Unsigned: r.Unsigned, Removed: number(r.Removed), Keys: r.Keys,
		Trusted: r.Trusted, Flaws: []flaw{},
	}
	for _, f := range r.Findings {
		v.Flaws = append(v.Flaws, flaw{Kind: f.Kind, Segment: f.Segment, Line: f.Line, Text: f.Text})
	}
	return v
}
