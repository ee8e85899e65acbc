package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// beginning judges what the log begins with: the first record there was, or one whose
// predecessors were removed by retention, which a later record says that is signed.
func (j *judging) beginning() {
	if len(j.kept) == 0 || j.failed {
		return
	}
	first := j.kept[0]
	// What is not there may be of days that nobody asked about.
	if first.claim == nil && j.cut.before || first.claim != nil && j.days.before(first.claim.After) {
		return
	}
	if first.bare && (j.head == nil || j.head.Seq == 0 || j.head.Seq >= first.first) {
		return // nothing is known of them, but that no checkpoint was before
	}
	f := Finding{Kind: kindMissing, Segment: first.segment.name.File(), Line: first.line, To: first.first - 1}
	switch {
	// A record says what it follows from only where it begins a file.
	case first.claim == nil && first.first == 1:
		return // it was changed, which has been said
	case first.claim == nil:
		f.Text = fmt.Sprintf("it begins with record %d, which was not the first of a file", first.first)
	case first.claim.Hash == "" && first.first == 1:
		return // there was none before
	case slices.ContainsFunc(append(j.removals(), j.removed...), func(r removal) bool {
		return r.through == first.first-1 && r.hash == first.claim.Hash || r.through >= first.first
	}):
		j.report.Removed = first.first - 1
		return
	case j.cut.before:
		f.Kind, f.Segment, f.Line = kindMissingSegment, first.claim.After, 0
		f.Text = fmt.Sprintf("it is not there, and its last record was record %d", f.To)
	default:
		f.Kind, f.Segment, f.Line = kindMissingSegment, first.claim.After, 0
		f.Text = fmt.Sprintf("it and what was before it are not there, up to record %d, and no record that is signed says that they were removed", f.To)
	}
	j.report.find(f)
}

// readRemoved looks through the records of later days for those that say that files were removed,
// where the first of these days may have been: retention removes a file long after its day. They
// are not verified. Whoever adds one to a log is found when the days of that record are.
func (v *verifier) readRemoved(ctx context.Context) error {
	if !v.cut.after || len(v.segments[0].passages) == 0 {
		return nil
	}
	first := v.segments[0].passages[0].claim
	if first == nil || first.Hash == "" || v.days.before(first.After) {
		return nil
	}
	for _, s := range v.segments {
		if !s.later {
			continue
		}
		if err := v.removedBy(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name.File(), err)
		}
	}
	return nil
}

// removedBy notes what the records of a file say that was removed. A file that is gone, or damaged,
// says nothing.
func (v *verifier) removedBy(ctx context.Context, s *scanned) error {
	in, err := v.source.Dir().Open(s.name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	buf := make([]byte, segment.BlockSize)
	for ctx.Err() == nil {
		lines, err := in.Next(buf)
		if errors.Is(err, io.EOF) || errors.Is(err, segment.ErrChanged) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range bytes.Lines(lines) {
			if r, ok := removalOf(line, 0); ok {
				v.removed = append(v.removed, r)
			}
		}
		buf = lines[:cap(lines)]
	}
	return ctx.Err()
}

// removals are those that count. A line that says that files were removed anybody can
// append who may write there; that is why the gateway removes nothing before it has signed
// it. One that it found unsigned when it started does not count once it has signed what
// comes after, either: it says so before.
func (j *judging) removals() (all []removal) {
	var distrusted []span
	for _, p := range j.kept {
		all, distrusted = append(all, p.removals...), append(distrusted, p.distrusted...)
	}
	return slices.DeleteFunc(all, func(r removal) bool {
		return r.seq > j.report.Signed || slices.ContainsFunc(distrusted, func(s span) bool { return s.from <= r.seq && r.seq <= s.to })
	})
}

// signatures judges the checkpoints. One by a key that counts covers those before it,
// whoever signed them: the gateway that has the key went on from there.
func (j *judging) signatures() {
	var foreign []*signature // since the last that counts
	r := j.report
	for _, p := range j.kept {
		for _, s := range p.signatures {
			if !p.segment.later {
				r.Checkpoints++
			}
			r.Keys = append(r.Keys, s.kid)
			switch {
			case s.err != nil:
				r.find(Finding{Kind: kindSignature, Segment: p.segment.name.File(), From: s.seq, To: s.seq,
					Text: fmt.Sprintf("the checkpoint that is record %d: %v", s.seq, s.err)})
			case s.foreign:
				foreign = append(foreign, s)
			default:
				r.Signed, r.SignedAt, foreign = s.statement.Seq, s.statement.Time, nil
			}
		}
	}
	slices.Sort(r.Keys)
	r.Keys = slices.Compact(r.Keys)
	r.Trusted = j.keys.trusted != nil && r.Signed > 0
	if len(foreign) > 0 {
		from, to := foreign[0].seq, foreign[len(foreign)-1].seq
		r.find(Finding{Kind: kindSignature, From: from, To: to,
			Text: fmt.Sprintf("the checkpoints from record %d to %d are by keys that are not among those given, and none of those has signed since", from, to)})
	}
	if r.Signed == 0 && len(foreign) == 0 && !j.cut.before && !j.cut.after {
		j.unsigned()
	}
	j.countUnsigned()
}

// countUnsigned counts the records behind the last checkpoint that counts. That itself is
// none of them: nothing follows from whether somebody replaces it.
func (j *judging) countUnsigned() {
	r := j.report
	signed := r.Signed
	if signed > 0 {
		signed++
	}
	for _, p := range j.kept {
		if !p.bare && !p.segment.later && p.last > signed {
			r.Unsigned += int(p.last - max(signed, p.first-1)) //nolint:gosec // at most as many as there are
		}
	}
}

// unsigned judges a log without a checkpoint that holds. One that has just begun has none
// yet; by its head it has had none, and by its records none was due. Older ones have: what
// would show that records were taken off the end is not there.
func (j *judging) unsigned() {
	due := 2 * j.interval // the clock of the log ticks from when the gateway starts
	text := fmt.Sprintf("there is no checkpoint that holds, and since the first record more than %v have passed, in which one was due", due)
	begun, ok := j.begun()
	switch age := j.now.Sub(begun).Abs(); {
	case len(j.kept) == 0:
		text = "there is no record, and so nothing that shows that none was taken away"
	case j.report.Checkpoints > 0 || j.head != nil && j.head.Seq > 0:
		text = "there is no checkpoint that holds, and there was one"
	case j.head == nil && j.headPath != NoHead:
		text = "there is no checkpoint that holds, and no " + chain.HeadFile + ", which there is from the beginning"
	case ok && age <= due:
		j.report.Young = true
		return
	}
	j.report.find(Finding{Kind: Unsigned, Text: text})
}

// begun is when the first record was made; false where that cannot be told.
func (j *judging) begun() (time.Time, bool) {
	if len(j.kept) == 0 || j.kept[0].first != 1 || j.kept[0].bare {
		return time.Time{}, false
	}
	var r struct {
		Time time.Time `json:"time"`
	}
	err := json.Unmarshal(j.kept[0].head, &r)
	return r.Time, err == nil
}

// none judges that there are no records of the last days that were asked for, while there are
// files of days before. The head names the file of the last checkpoint that is known.
func (j *judging) none() {
	switch h := j.head; {
	case h == nil:
		j.report.find(Finding{Kind: Unsigned, Segment: chain.HeadFile,
			Text: "it is not there: files of these days that were taken away could not be found"})
	case h.Seq > 0 && !j.days.before(h.Segment):
		j.report.Head = h.Seq
		j.report.find(Finding{Kind: kindMissingSegment, Segment: h.Segment, To: h.Seq,
			Text: fmt.Sprintf("its records are not there, of which %s is known, a checkpoint", records(h.Seq, h.Seq))})
	default:
		j.report.Head = h.Seq
	}
}

// ending judges what the log ends with, by the last checkpoint that is known. Without that
// nobody can tell a log from one whose last records were taken away: what is left of a chain
// is a chain.
// With a copy of the head that was kept elsewhere it also finds a log that was replaced together
// with its own head.
func (j *judging) ending() {
	r := j.report
	if j.headPath == NoHead {
		return
	}
	// What follows these days says how they ended, where there is any.
	if j.cut.after {
		if j.head != nil {
			r.Head = j.head.Seq
		}
		return
	}
	if r.Records == 0 && j.cut.before {
		j.none()
		return
	}
	if j.head == nil {
		if r.Checkpoints > 0 {
			r.find(Finding{Kind: kindTruncated, Segment: chain.HeadFile, Text: "it is not there: records that were taken off the end could not be found"})
		}
		return
	}
	if r.Head = j.head.Seq; r.Head == 0 {
		return
	}
	if j.head.Seq > r.To {
		r.find(Finding{Kind: kindTruncated, Segment: j.head.Segment, From: r.To + 1, To: j.head.Seq,
			Text: fmt.Sprintf("%s missing, of which the last was a checkpoint", records(r.To+1, j.head.Seq))})
		return
	}
	// Retention, or the days that were asked for, left it out.
	if j.head.Seq < r.From {
		return
	}
	// The number is not enough: a log that was cut off and went on has a record of it too.
	for _, p := range j.kept {
		for _, s := range p.signatures {
			if s.seq == j.head.Seq && s.hash.String() == j.head.Hash {
				return
			}
		}
	}
	r.find(Finding{Kind: kindChanged, Segment: j.head.Segment, From: j.head.Seq, To: j.head.Seq,
		Text: fmt.Sprintf("record %d is not the checkpoint that was known", j.head.Seq)})
}
