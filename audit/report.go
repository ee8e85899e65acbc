package audit

import (
	"fmt"
	"strconv"
)

// Kinds of what a verification finds. Those that readers go by, beside showing them, have
// exported names.
const (
	kindChanged        = "changed"         // a record, or its hash
	kindMissing        = "missing"         // records inside a segment
	kindMissingSegment = "missing segment" // a whole file
	kindTruncated      = "truncated"       // records at the end of a segment, or of the log
	kindReordered      = "reordered"       // records stand elsewhere than they were written
	kindDuplicated     = "duplicated"      // records stand there twice
	kindInserted       = "inserted"        // lines that were never records
	kindRenamed        = "renamed"         // a file has another's name
	kindSignature      = "signature"       // a checkpoint does not hold
	Unsigned           = "unsigned"        // there is no checkpoint, and one was due
	MissingContent     = "missing content" // captured content, which nobody erased
	ChangedContent     = "changed content" // captured content is not what was kept
)

// Finding is something that is wrong with a log.
//
//	audit-2026-11-22.jsonl:17: changed: record 4711 was changed: its hash is not that of what it says
type Finding struct {
	Kind    string `json:"kind"`
	Segment string `json:"segment,omitempty"`
	Line    int    `json:"line,omitempty"` // in the segment
	From    uint64 `json:"from,omitempty"` // the records it is about
	To      uint64 `json:"to,omitempty"`
	Text    string `json:"text"`
}

// String is a finding for people: the place first, as compilers have it.
func (f Finding) String() string {
	where := f.Segment
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, f.Line)
	}
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s: %s", where, f.Kind, f.Text)
}

// Report is the outcome of a verification.
// It is the JSON that `audit verify --json` and the console show, so that names of members are
// kept.
type Report struct {
	Segments int    `json:"segments"`
	Records  int    `json:"records"`
	Bytes    int64  `json:"bytes"` // of the records
	From     uint64 `json:"from"`  // numbers of the first and the last record
	To       uint64 `json:"to"`

	// Unchained are records of versions that wrote no hashes. Nothing is known of them.
	Unchained int `json:"unchained"`
	// Empty says that there are no records of the days that were asked for.
	Empty bool `json:"empty,omitempty"`
	// Removed is the number of the last record that retention removed, 0 for none.
	Removed uint64 `json:"removed,omitempty"`
	// Torn are files whose last line is not whole, as a crash leaves them.
	Torn []string `json:"torn,omitempty"`

	Checkpoints int `json:"checkpoints"`
	// Signed is the number of the last record that a checkpoint covers. Those after it are
	// chained, but could have been replaced together.
	Signed uint64 `json:"signed"`
	// Unsigned are the records since, which the next checkpoint will cover. In a log that is
	// written to there are always some.
	Unsigned int `json:"unsigned"`
	// Young says that there is no checkpoint, and that none was due yet.
	Young bool `json:"young,omitempty"`
	// SignedAt is when that checkpoint was made.
	SignedAt string `json:"signed_at,omitempty"`
	// Keys are the ids of the keys that signed.
	Keys []string `json:"keys"`
	// Trusted says that the last checkpoint was compared with a key that was given.
	Trusted bool `json:"trusted"`
	// Head is the number of the last checkpoint that was known, 0 when none was.
	Head uint64 `json:"head,omitempty"`

	// Content is what is known of captured content; nil where no record names any.
	Content *Contents `json:"content,omitempty"`

	Findings []Finding `json:"findings"`
}

// maxFindings bounds a report: a log that is nothing but damage needs no list.
const maxFindings = 1000

// find adds a finding, of which there is a bounded number: a file of something else would be a finding
// a line.
func (r *Report) find(f Finding) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// count adds the records of a passage, if they are of the days that were asked for.
func (r *Report) count(p *passage) {
	if p.segment.later {
		return
	}
	if r.Records == 0 {
		r.From = p.first
	}
	r.Records += p.count
	if p.bare {
		r.Unchained += p.count
	}
	r.To = p.last
}

// none makes a report one of days without records. What was signed are then records of a later
// day, which nobody asked about.
func (r *Report) none() {
	r.Empty, r.Keys, r.Checkpoints, r.Signed, r.SignedAt, r.Trusted = true, []string{}, 0, 0, "", false
}

// records names one record or several.
func records(from, to uint64) string {
	if from == to {
		return "record " + strconv.FormatUint(from, 10)
	}
	return fmt.Sprintf("records %d to %d", from, to)
}
