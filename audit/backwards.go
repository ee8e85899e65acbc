package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

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
// jwks is the JWK set of the gateway's keys, last the number of the last record. nil is the usual
// answer: nothing needs to be taken back.
func unsignedRemovals(s reader.Source, jwks []byte, last uint64) *span {
	b := backwards{source: s, left: farFromEnd}
	b.keys.trusted = &jose.JSONWebKeySet{}
	if err := json.Unmarshal(jwks, b.keys.trusted); err != nil {
		b.keys.trusted = &jose.JSONWebKeySet{} // none of them has signed anything
	}
	names, err := segment.List(s.Path)
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
	return &span{max(b.signed, 1), last} // this gateway removes nothing before it can sign
}

// backwards looks for the last checkpoint that counts, from the end.
type backwards struct {
	source reader.Source
	keys   keySet
	left   int64 // bytes that may be read

	signed   uint64    // of the checkpoint
	removals []removal // behind it
}

// errTooFar means that there is no checkpoint where there should be one.
var errTooFar = errors.New("there is no checkpoint near the end")

// segment reads one, of a file that is as it was written only the end where that will do.
func (b *backwards) segment(n segment.Name) error {
	from := int64(0)
	if info, err := os.Stat(n.Path(b.source.Path)); err == nil { // read says what else is wrong
		from = max(info.Size()-closeToEnd, 0)
	}
	if n.Form == segment.AsWritten && from > 0 {
		if err := b.read(n, from); err != nil || b.signed > 0 {
			return err
		}
	}
	return b.read(n, 0)
}

// read reads a segment from a place on. A part that does not begin with the file begins inside a
// line, which is no record then and is passed over.
func (b *backwards) read(n segment.Name, from int64) error {
	in, err := b.source.Dir().Open(n, from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	before, buf := chain.Previous{First: from == 0}, make([]byte, segment.BlockSize)
	for {
		lines, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		// The bound keeps a start within seconds, whatever is in the directory.
		if b.left -= int64(len(lines)); err == nil && b.left < 0 {
			err = errTooFar
		}
		if err != nil {
			return err
		}
		for line := range bytes.Lines(lines) {
			line = line[:len(line)-1]
			b.line(line, before)
			before = chain.PreviousOf(line)
		}
	}
}

// line looks for what matters. Whether records follow from each other is for Verify to find.
func (b *backwards) line(line []byte, before chain.Previous) {
	seq, ok := chain.LastSeq(line)
	body, _, chained := chain.CutHash(line)
	if !ok || !chained {
		return
	}
	switch kindOf(body) {
	case 'h':
		if c := claimOf(body); before.First && c != nil {
			copy(before.Hash[:], c.Hash)
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
