package console

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
)

// Verification is the answer of POST /api/v1/audit/verify.
type Verification struct {
	Intact   bool     `json:"intact" doc:"nothing was found"`
	Records  int      `json:"records"`
	Segments int      `json:"segments"`
	From     int64    `json:"from" doc:"numbers of the first and the last record"`
	To       int64    `json:"to"`
	Signed   int64    `json:"signed" doc:"number of the last record that a checkpoint covers"`
	SignedAt string   `json:"signedAt,omitzero"`
	Unsigned int      `json:"unsigned" doc:"records since, which the next checkpoint covers"`
	Removed  int64    `json:"removed,omitzero" doc:"number of the last record that retention removed"`
	Keys     []string `json:"keys" doc:"ids of those that signed"`
	Trusted  bool     `json:"trusted" doc:"these are the gateway's own"`
	Flaws    []Flaw   `json:"findings"`
}

// Flaw is something that is wrong with the audit log.
type Flaw struct {
	Kind    string `json:"kind"`
	Segment string `json:"segment,omitzero"`
	Line    int    `json:"line,omitzero"`
	Text    string `json:"text"`
}

// verify reads the log, and changes nothing.
func (s *Console) verify(c *call) (any, error) {
	from, err := c.time("from", time.DateOnly)
	if err != nil {
		return nil, err
	}
	to, err := c.time("to", time.DateOnly)
	if err != nil {
		return nil, err
	}
	r, err := s.Records.Verify(c.Context(), from, to)
	if err != nil {
		return nil, err
	}
	return verificationOf(r), nil
}

func verificationOf(r *audit.Report) Verification {
	number := func(seq uint64) int64 { return int64(seq) } //nolint:gosec // numbers have 18 digits at most
	v := Verification{
		Intact: len(r.Findings) == 0, Records: r.Records, Segments: r.Segments, From: number(r.From), To: number(r.To),
		Signed: number(r.Signed), SignedAt: r.SignedAt, Unsigned: r.Unsigned, Removed: number(r.Removed), Keys: r.Keys,
		Trusted: r.Trusted, Flaws: []Flaw{},
	}
	for _, f := range r.Findings {
		v.Flaws = append(v.Flaws, Flaw{Kind: f.Kind, Segment: f.Segment, Line: f.Line, Text: f.Text})
	}
	return v
}
