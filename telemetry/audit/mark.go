package audit

import (
	"cmp"
	"strconv"
	"sync"
)

// Mark is a place in a log, for somebody else to remember: up to it the records are on the disk.
// Who puts the directory back to an older copy, its head included, cannot put that back with it.
type Mark struct {
	Seq     uint64 `json:"seq"`     // of the last record; 0 for none
	Hash    string `json:"hash"`    // of that record
	Segment string `json:"segment"` // the file that has it
}

// marks is what of the log is to be remembered, and who does.
type marks struct {
	mu      sync.Mutex
	durable Mark       // up to here records are on the disk
	told    uint64     // number of the last one that was remembered
	put     func(Mark) // nil: nobody remembers
}

// note says that records are on the disk.
func (m *marks) note(at chain) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.seq > m.durable.Seq {
		m.durable = Mark{Seq: at.seq, Hash: at.hash.String(), Segment: at.segment}
	}
}

// tell has what is new remembered. It may take as long as whoever remembers does.
func (m *marks) tell() {
	m.mu.Lock()
	at, put := m.durable, m.put
	if put == nil || at.Seq == m.told {
		m.mu.Unlock()
		return
	}
	m.told = at.Seq
	m.mu.Unlock()
	put(at)
}

// Remember compares the log with what is remembered of it, and has it remembered from now on: by
// put, about once a second while there is something new, and when the log is closed. No caller
// waits for that. A log that ends before known, or has another record there, is not the one that
// was written: the event audit.gone says so, and records go on behind known as behind a head.
// It is to be called before anything is recorded but by Open.
func (l *Log) Remember(known Mark, put func(Mark)) {
	l.marks.mu.Lock()
	l.marks.put, l.marks.told = put, known.Seq
	l.marks.mu.Unlock()
	gone := l.resumeBehind(known)
	if gone == nil {
		return
	}
	l.missing(gone)
	_ = l.Event("audit.gone", gone) // whoever needs the record asks again
}

// resumeBehind goes on behind a mark that is further than the records, or that another record
// stands at.
func (l *Log) resumeBehind(known Mark) (gone map[string]string) {
	l.file.Lock()
	defer l.file.Unlock()
	other := known.Seq > 0 && known.Seq == l.chain.seq && !l.chain.hash.none() && known.Hash != l.chain.hash.String()
	if len(known.Hash) != len(link{}) || known.Seq <= l.chain.seq && !other {
		return nil
	}
	from := l.chain.seq + 1
	if other {
		from = known.Seq
	}
	l.chain.seq = known.Seq
	copy(l.chain.hash[:], known.Hash)
	l.chain.segment = known.Segment
	l.last.Store(l.chain.seq)
	l.segments.retire(false) // a file has the numbers that follow each other
	l.wake()
	return map[string]string{
		"from": strconv.FormatUint(from, 10), "to": strconv.FormatUint(known.Seq, 10), "segment": known.Segment,
	}
}

// missing says that records are not there any more.
func (l *Log) missing(gone map[string]string) {
	from, _ := strconv.ParseUint(gone["from"], 10, 64)
	to, _ := strconv.ParseUint(gone["to"], 10, 64)
	l.logger.Error("audit records are not there any more", "dir", l.config.Dir, "from", from, "to", to)
	l.metrics.AuditGone(int(to-from) + 1) //nolint:gosec // no log has that many
	l.gone.Store(cmp.Or(l.gone.Load(), &gone))
}

// Gone says which records were not there any more when the log was opened; "" for none.
func (l *Log) Gone() string {
	gone := l.gone.Load()
	if gone == nil {
		return ""
	}
	return "records " + (*gone)["from"] + " to " + (*gone)["to"] + " were not there any more at the start"
}
