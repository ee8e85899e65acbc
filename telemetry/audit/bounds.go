package audit

import (
	"fmt"
	"slices"
)

// beginning judges what the log begins with: the first record there was, or one whose
// predecessors were removed by retention, which a later record says.
func (j *judging) beginning() {
	if len(j.kept) == 0 || j.cut.before || j.failed {
		return
	}
	first := j.kept[0]
	if first.bare {
		return
	}
	f := Finding{Kind: Missing, Segment: first.segment.name.file(), Line: first.line, To: first.first - 1}
	switch {
	case first.claim == nil && first.first == 1:
		return // it was changed, which has been said
	case first.claim == nil:
		f.Text = fmt.Sprintf("it begins with record %d, which was not the first of a file", first.first)
	case first.claim.Hash == "":
		return // there was none before
	case slices.ContainsFunc(j.removals(), func(r removal) bool {
		return r.through == first.first-1 && r.hash == first.claim.Hash || r.through >= first.first
	}):
		j.report.Removed = first.first - 1
		return
	default:
		f.Kind, f.Segment, f.Line = MissingSegment, first.claim.After, 0
		f.Text = fmt.Sprintf("it and what was before it are not there, up to record %d, and no record says that they were removed", f.To)
	}
	j.report.find(f)
}

func (j *judging) removals() (all []removal) {
	for _, p := range j.kept {
		all = append(all, p.removals...)
	}
	return all
}

// signatures judges the checkpoints. One by a key that counts covers those before it,
// whoever signed them: the gateway that has the key went on from there.
func (j *judging) signatures() {
	var foreign []*signature // since the last that counts
	r := j.report
	for _, p := range j.kept {
		for _, s := range p.signatures {
			r.Checkpoints++
			r.Keys = append(r.Keys, s.kid)
			switch {
			case s.err != nil:
				r.find(Finding{Kind: Signature, Segment: p.segment.name.file(), From: s.seq, To: s.seq,
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
		r.find(Finding{Kind: Signature, From: from, To: to,
			Text: fmt.Sprintf("the checkpoints from record %d to %d are by keys that are not among those given, and none of those has signed since", from, to)})
	}
	if r.Signed == 0 && len(foreign) == 0 && !j.cut.before && !j.cut.after {
		r.find(Finding{Kind: Unsigned, Text: "there is no checkpoint that holds"})
	}
}

// ending judges what the log ends with, by the last checkpoint that is known.
func (j *judging) ending() {
	if j.cut.after || j.headPath == NoHead {
		return
	}
	r := j.report
	if j.head == nil {
		if r.Checkpoints > 0 {
			r.find(Finding{Kind: Truncated, Segment: headFile, Text: "it is not there: records that were taken off the end could not be found"})
		}
		return
	}
	if r.Head = j.head.Seq; r.Head == 0 {
		return
	}
	if j.head.Seq > r.To {
		r.find(Finding{Kind: Truncated, Segment: j.head.Segment, From: r.To + 1, To: j.head.Seq,
			Text: fmt.Sprintf("%s missing, of which the last was a checkpoint", records(r.To+1, j.head.Seq))})
		return
	}
	if j.head.Seq < r.From {
		return
	}
	for _, p := range j.kept {
		for _, s := range p.signatures {
			if s.seq == j.head.Seq && s.hash.String() == j.head.Hash {
				return
			}
		}
	}
	r.find(Finding{Kind: Changed, Segment: j.head.Segment, From: j.head.Seq, To: j.head.Seq,
		Text: fmt.Sprintf("record %d is not the checkpoint that was known", j.head.Seq)})
}
