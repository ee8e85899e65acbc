package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// eventDistrusted is the event that takes back what records say about files that were
// removed. Who may write the files can put a removal behind the last checkpoint while the
// gateway does not run, and would have it signed by the next one: what is signed after it
// covers this event as well.
const eventDistrusted = "audit.distrusted"

// span is the numbers of some records.
type span struct{ from, to uint64 }

// distrustedBy reads an event of that kind, as removalOf does.
func distrustedBy(line []byte) (span, bool) {
	if !bytes.Contains(line, []byte(`"event":"`+eventDistrusted+`"`)) {
		return span{}, false
	}
	var e struct {
		Attrs struct {
			From uint64 `json:"from,string"`
			To   uint64 `json:"to,string"`
		} `json:"attrs"`
	}
	err := json.Unmarshal(line, &e)
	return span{e.Attrs.From, e.Attrs.To}, err == nil
}

// A checkpoint is close to the end of a log. Further back it is looked for up to a bound:
// a log whose keys are all new ones would have to be read as a whole.
const (
	closeToEnd = 16 << 20
	farFromEnd = 512 << 20
)

// unsignedRemovals returns the records behind the last checkpoint by one of the keys if
// there is a removal among them, or if it cannot be known that there is none.
func (l *Log) unsignedRemovals(k Keys) *span {
	b := backwards{source: l.config.Source(), left: farFromEnd}
	b.keys.trusted = &jose.JSONWebKeySet{}
	if err := json.Unmarshal(k.JWKS(), b.keys.trusted); err != nil {
		b.keys.trusted = &jose.JSONWebKeySet{} // none of them has signed anything
	}
	names, err := list(l.config.Dir)
	for _, n := range slices.Backward(names) {
		if b.signed > 0 || err != nil {
			break
		}
		err = b.segment(n)
	}
	// What cannot be read may hold a removal: then all that was not seen is distrusted.
	if len(b.removals) == 0 && err == nil {
		return nil
	}
	return &span{max(b.signed, 1), l.Seq()} // this gateway removes nothing before it can sign
}

// backwards looks for the last checkpoint that counts, from the end.
type backwards struct {
	source Source
	keys   keySet
	left   int64 // bytes that may be read

	signed   uint64    // of the checkpoint
	removals []removal // behind it
}

// errTooFar means that there is no checkpoint where there should be one.
var errTooFar = errors.New("there is no checkpoint near the end")

// segment reads one, of a file that is as it was written only the end where that will do.
func (b *backwards) segment(n name) error {
	from := int64(0)
	if info, err := os.Stat(n.path(b.source.Path)); err == nil { // read says what else is wrong
		from = max(info.Size()-closeToEnd, 0)
	}
	if n.form == asWritten && from > 0 {
		if err := b.read(n, from); err != nil || b.signed > 0 {
			return err
		}
	}
	return b.read(n, 0)
}

// read reads a segment from a place on. A part that does not begin with the file begins inside a
// line, which is no record then and is passed over.
func (b *backwards) read(n name, from int64) error {
	in, err := b.source.openSegment(n, from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	before, buf := previous{first: from == 0}, make([]byte, blockSize)
	for {
		lines, err := in.next(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if b.left -= int64(len(lines)); err == nil && b.left < 0 {
			err = errTooFar
		}
		if err != nil {
			return err
		}
		for line := range bytes.Lines(lines) {
			line = line[:len(line)-1]
			b.line(line, before)
			before = previousOf(line)
		}
	}
}

// line looks for what matters. Whether records follow from each other is for Verify to find.
func (b *backwards) line(line []byte, before previous) {
	seq, ok := lastSeq(line)
	body, _, chained := cutHash(line)
	if !ok || !chained {
		return
	}
	switch kindOf(body) {
	case 'h':
		if c := claimOf(body); before.first && c != nil {
			copy(before.hash[:], c.Hash)
		}
		if s := b.keys.verify(line, seq, before); s.err == nil && !s.foreign {
			b.signed = seq
			b.removals = slices.DeleteFunc(b.removals, func(r removal) bool { return r.seq < seq })
		}
	case 'v':
		if r, ok := removalOf(line, seq); ok {
			b.removals = append(b.removals, r)
		}
	}
}

// recordDistrust writes what there is to be distrusted. Until it can, nothing is signed.
func (l *Log) recordDistrust() {
	l.file.Lock()
	s := l.distrust
	l.file.Unlock()
	if s == nil {
		return
	}
	attrs := map[string]string{"from": strconv.FormatUint(s.from, 10), "to": strconv.FormatUint(s.to, 10)}
	l.logger.Error("audit records say that files were removed, and are not signed", "dir", l.config.Dir,
		"from", attrs["from"], "to", attrs["to"])
	if l.Event(eventDistrusted, attrs) != nil {
		return // it is tried again
	}
	l.file.Lock()
	l.distrust = nil
	l.file.Unlock()
}
