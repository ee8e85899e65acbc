package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// judge says what the passages amount to. It goes from what is certain to what follows from
// it: first which file is which, then which records were changed where they stand, then
// which are missing, moved or there twice, and last what checkpoints say of all that. Each
// step leaves the passages as they would be without what it has found, so that one change is
// one finding and not the cause of ten.
//
//	segmentsInOrder  files under another name: renamed, duplicated
//	mend             single records that were changed, renumbered or are none
//	count            gaps, repetitions, what stands elsewhere
//	signatures       checkpoints that do not hold, and how far good ones reach
//	beginning        what was removed by retention, and what was taken away
//	ending           what was taken off the end, by the head
//	boundaries       files that do not begin as files do
//	contents         captured content against the records that name it
func (v *verifier) judge() *Report {
	j := &judging{verifier: v, report: &Report{Findings: []Finding{}, Keys: []string{}}, sum: chain.NewSummer()}
	j.segmentsInOrder()
	j.mend()
	j.count()
	j.signatures()
	j.beginning()
	j.ending()
	j.boundaries()
	j.contents()
	for _, s := range v.segments {
		if s.later {
			continue
		}
		j.report.Segments++
		j.report.Bytes += s.size
		if s.err != nil {
			j.report.find(Finding{Kind: kindChanged, Segment: s.name.File(), Text: fmt.Sprintf("after byte %d: %v", s.size, s.err)})
		}
		if s.torn > 0 {
			j.report.Torn = append(j.report.Torn, s.name.File())
		}
	}
	j.report.Signed = min(j.report.Signed, j.report.To) // a checkpoint of a later day covers all of these
	if v.days.bounded() && j.report.Records == 0 {
		j.report.none()
	}
	return j.report
}

// judging is the way to a report. It is for one goroutine: what could be done by several has
// been, when the passages were made.
type judging struct {
	*verifier

	report *Report
	sum    *chain.Summer
	list   []*passage // in the order of the files, by the names they say they have
	kept   []*passage // in the order of their numbers, without what is there twice
	failed bool       // the beginning of the log is damaged
}

// segmentsInOrder lists the passages of segments in the order of the names that they have
// by their own account, and finds files that have others.
func (j *judging) segmentsInOrder() {
	type placed struct {
		segment *scanned
		name    segment.Name
	}
	var order []placed
	byName := map[string]bool{}
	for _, s := range j.segments {
		if s.called() == s.name.File() {
			byName[s.name.File()] = true
		}
	}
	for _, s := range j.segments {
		// A file that was copied under another name is the same records twice. One that was
		// renamed is judged by the name that it had, so that no gap is found on top of that.
		called, ok := segment.ParseName(s.called())
		if called.Compare(s.name) == 0 || !ok {
			order = append(order, placed{s, s.name})
			continue
		}
		if byName[called.File()] {
			j.report.find(Finding{Kind: kindDuplicated, Segment: s.name.File(), From: s.passages[0].first, To: s.passages[0].last,
				Text: "it holds what " + called.File() + " holds"})
			continue
		}
		byName[called.File()] = true
		j.report.find(Finding{Kind: kindRenamed, Segment: s.name.File(), Text: "it was written as " + called.File()})
		order = append(order, placed{s, called})
	}
	slices.SortStableFunc(order, func(a, b placed) int { return a.name.Compare(b.name) })
	for _, o := range order {
		j.list = append(j.list, o.segment.passages...)
	}
}

// boundaries finds records that stand before or behind the end of their file. Where more
// is wrong with a file, that is said already.
func (j *judging) boundaries() {
	for _, s := range j.segments {
		if len(s.passages) == 0 || s.passages[0].claim != nil || s.passages[0].bare || s.passages[0].broken {
			continue
		}
		if !slices.ContainsFunc(j.report.Findings, func(f Finding) bool { return f.Segment == s.name.File() }) {
			p := s.passages[0]
			j.report.find(Finding{Kind: kindReordered, Segment: s.name.File(), Line: 1, From: p.first, To: p.first,
				Text: records(p.first, p.first) + " did not begin a file"})
		}
	}
}

// called is the name that a segment was written under. One line does not tell that, where
// others follow that do not belong to it.
func (s *scanned) called() string {
	if len(s.passages) == 0 {
		return s.name.File()
	}
	p := s.passages[0]
	if p.claim == nil || !p.linked || p.count == 1 && len(s.passages) > 1 {
		return s.name.File()
	}
	return p.claim.Name
}

// follows reports whether a passage follows from the end of another. Numbers can be written
// by anybody; the hash is over the record and the hash before it, and tells.
func (j *judging) follows(a, p *passage) bool {
	body, h, ok := chain.CutHash(p.head)
	return ok && j.sum.Link(a.hash, body) == h
}

// mend joins passages again that a change of single records has divided, and finds those
// records: what stands where it was is told from what was moved.
func (j *judging) mend() {
	var out []*passage
	for i := 0; i < len(j.list); i++ {
		p := j.list[i]
		var a, b *passage
		if len(out) > 0 {
			a = out[len(out)-1]
		}
		if i+1 < len(j.list) {
			b = j.list[i+1]
		}
		switch {
		// Records without hashes are what gateways of long ago wrote: they may stand before
		// those with hashes, and never behind them.
		case p.broken || p.bare && a != nil && !a.bare:
			j.unreadable(a, p, b)
		case a == nil || a.bare:
			if !p.bare && !p.linked {
				j.firstChanged(p, b)
			}
			out = append(out, p)
		// It follows by its number and by its hash: it was the line between that was not right.
		case p.first == a.last+1 && j.follows(a, p):
			if p.segment.later && !a.end.later {
				out = append(out, p) // they are counted by themselves
				continue
			}
			a.extend(p)
		case p.first == a.last+1:
			if j.hashChanged(a, p, b) {
				a.extend(p)
				p, i = b, i+1
			}
			a.extend(p)
		// One line with a number that is not its own, where exactly one belongs.
		case p.count == 1 && b != nil && b.first == a.last+2 && b.linked:
			j.changed(p, a.last+1, "it has another number")
			p.last = a.last + 1
			a.extend(p)
			b.head = nil // it follows from what was changed
		case j.renumbered(p, a.last+1, a.hash):
			a.extend(p)
		default:
			out = append(out, p)
		}
	}
	j.list = out
}

// firstChanged finds that the first record has been changed. Of one that does not say where
// it comes from that cannot be told.
func (j *judging) firstChanged(p, b *passage) {
	switch {
	case b != nil && j.renumbered(p, b.first-1, p.before):
	case p.claim != nil || p.first == 1:
		j.changed(p, p.first, "its hash is not that of what it says")
	}
}

// renumbered finds a record that had another number when its hash was made, and gives it
// back. One that was moved, or is there twice, has its own.
func (j *judging) renumbered(p *passage, seq uint64, before chain.Link) bool {
	body, h, ok := chain.CutHash(p.head)
	at := bytes.Index(body, []byte(chain.VersionPrefix))
	if !ok || at < 0 || p.count > 1 || p.first == seq {
		return false
	}
	original := append(strconv.AppendUint([]byte(chain.SeqPrefix), seq, 10), body[at:]...)
	if j.sum.Link(before, original) != h {
		return false
	}
	j.changed(p, seq, "it has another number")
	p.first, p.last = seq, seq
	return true
}

// unreadable judges lines that are no records between a and b.
func (j *judging) unreadable(a, p, b *passage) {
	f := Finding{Kind: kindChanged, Segment: p.segment.name.File(), Line: p.line, Text: "it is no record"}
	if p.bare && !p.broken {
		f.Text = records(p.first, p.last) + " have no hashes"
	}
	switch {
	case a == nil:
		j.failed = true
	case b == nil || b.broken || b.first <= a.last:
	case b.first == a.last+1:
		f.Kind = kindInserted
	default:
		f.From, f.To = a.last+1, b.first-1
		f.Text += ", where " + records(f.From, f.To) + " belong"
		a.last = b.first - 1
		b.head = nil // what it follows from is not known
	}
	j.report.find(f)
}

// hashChanged finds a record with another hash than the one that the next was made with.
func (j *judging) hashChanged(a, p, b *passage) bool {
	body, _, _ := chain.CutHash(p.head)
	if p.count == 1 && b != nil && b.first == p.first+1 && !b.linked {
		original := j.sum.Link(a.hash, body)
		if next, h, ok := chain.CutHash(b.head); ok && j.sum.Link(original, next) == h {
			j.changed(p, p.first, "it has another hash")
			return true
		}
	}
	j.changed(p, p.first, "it does not follow from the one before, unless that was")
	return false
}

// changed tells of one record. Its number is the one that it should have: a reader looks for
// it there.
func (j *judging) changed(p *passage, seq uint64, why string) {
	j.report.find(Finding{Kind: kindChanged, Segment: p.segment.name.File(), Line: p.line, From: seq, To: seq,
		Text: records(seq, seq) + " was changed: " + why})
}

// count goes through the numbers: what is left when records with changed numbers have theirs
// again is missing, there twice, or in order. Of two passages that begin with one number the
// longer is taken for the original.
func (j *judging) count() {
	// Stable, so that of two equal passages the one that stands first is taken for the original.
	sorted := slices.Clone(j.list)
	slices.SortStableFunc(sorted, func(a, b *passage) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last))
	})
	var last *passage
	for _, p := range sorted {
		switch {
		case last == nil:
		case p.last <= last.last:
			j.duplicated(p, p.first, p.last)
			continue
		case p.first <= last.last:
			j.duplicated(p, p.first, last.last)
		case p.first > last.last+1:
			j.gap(last, p)
		case p.head == nil || p.bare:
		case last.bare:
			j.chained(p)
		case !j.follows(last, p):
			j.changed(p, p.first, "it does not follow from the one before, unless that was")
		}
		j.kept = append(j.kept, p)
		j.report.count(p)
		last = p
	}
	j.moved()
}

// duplicated tells of records that are there again. They are not counted, so that a log in
// which somebody repeats lines does not seem to have more of them.
func (j *judging) duplicated(p *passage, from, to uint64) {
	j.report.find(Finding{Kind: kindDuplicated, Segment: p.segment.name.File(), Line: p.line, From: from, To: to,
		Text: records(from, to) + " again"})
}

// chained judges the first record with a hash behind records without.
func (j *judging) chained(p *passage) {
	if p.claim == nil || p.claim.Hash != "" {
		j.report.find(Finding{Kind: kindChanged, Segment: p.segment.name.File(), Line: p.line, From: p.first, To: p.first,
			Text: "the records before " + records(p.first, p.first) + " had hashes, which have been taken away"})
	}
}

// gap judges records that are nowhere.
func (j *judging) gap(last, p *passage) {
	f := Finding{Kind: kindMissing, Segment: p.segment.name.File(), Line: p.line, From: last.last + 1, To: p.first - 1}
	f.Text = records(f.From, f.To) + " missing"
	switch {
	// Inside a file nothing is known but that they are gone. Between two files the first
	// record of the second names the one before: either that is here, and was cut off, or it
	// is not.
	case last.end == p.segment:
	case p.claim != nil && p.claim.After != last.end.called():
		f.Kind, f.Segment, f.Line = kindMissingSegment, p.claim.After, 0
	case p.claim != nil:
		f.Kind, f.Segment, f.Line = kindTruncated, last.end.name.File(), 0
	}
	j.report.find(f)
}

// maxPassages bounds what moved looks at, which takes the square of it.
const maxPassages = 5000

// moved finds passages that stand elsewhere than their numbers say: those that are not in
// the longest sequence that is in order.
// It is the heaviest increasing subsequence, by the quadratic method.
func (j *judging) moved() {
	if len(j.kept) > maxPassages {
		j.report.find(Finding{Kind: kindReordered, Text: fmt.Sprintf("records are mixed up in %d places", len(j.kept))})
		return
	}
	at := make(map[*passage]int, len(j.list))
	for i, p := range j.list {
		at[p] = i
	}
	// What stays is the sequence with most records, not with most passages: of a long and a
	// short stretch that changed places it is the short one that is said to have been moved.
	best := make([]int, len(j.kept)) // records in the longest sequence that ends there
	from := make([]int, len(j.kept))
	end := -1
	for i, p := range j.kept {
		best[i], from[i] = p.count, -1
		for k := range i {
			if at[j.kept[k]] < at[p] && best[k]+p.count > best[i] {
				best[i], from[i] = best[k]+p.count, k
			}
		}
		if end < 0 || best[i] > best[end] {
			end = i
		}
	}
	stays := map[int]bool{}
	for ; end >= 0; end = from[end] {
		stays[end] = true
	}
	for i, p := range j.kept {
		if !stays[i] {
			j.report.find(Finding{Kind: kindReordered, Segment: p.segment.name.File(), Line: p.line, From: p.first, To: p.last,
				Text: records(p.first, p.last) + " were written elsewhere"})
		}
	}
}
