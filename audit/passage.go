package audit

import (
	"bytes"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// passage is a stretch of a file in which each record follows from the one before. In a
// segment that nobody changed there is one.
// A damaged log is cut into passages at the damage, so that judging it takes time by the number of
// damages and not by the number of records.
type passage struct {
	segment *scanned // in which it begins
	end     *scanned // in which it ends: passages of files that fit are joined
	line    int      // where it begins in the file
	count   int      // lines
	bare    bool     // its records have numbers and no hashes
	broken  bool     // its lines are no records

	first, last uint64     // numbers
	head        []byte     // the first line, with its hash
	hash        chain.Link // of the last record
	before      chain.Link // hash of the line before it in the file
	linked      bool       // the first line's hash follows from that, whatever its number
	claim       *claim     // what the first line says of the segment

	signatures []*signature
	removals   []removal
	distrusted []span
	erasures   []erasure
}

// claim is what the first record of a segment says of it.
type claim struct {
	Name  string `json:"name"`
	After string `json:"after"`
	Hash  string `json:"hash"`
}

// removal is a record that says that segments were removed.
type removal struct {
	seq     uint64 // its own
	through uint64 // the last record that was
	hash    string // of that record
}

// combing divides blocks into passages. It is for one goroutine, and there is one for each
// processor: hashing is what a verification takes its time for.
type combing struct {
	keys *keySet
	sum  *chain.Summer
	next passage // of one line

	shelf *vault.Shelf // nil: content is not looked for
	today string
	held  held // of the block
}

// comb makes the passages of a block. It allocates for each passage and not for each line:
// a log that nobody changed is one passage, however long it is.
func (c *combing) comb(j *job) ([]*passage, held) {
	var found []*passage
	var p *passage
	at, before := j.line, j.before
	c.held = held{}
	for line := range bytes.Lines(j.lines) {
		line = line[:len(line)-1]
		next := &c.next
		// The passage is reused for every line and copied only where a new one begins.
		*next = c.record(line, at, before)
		next.line = at
		if p != nil && next.continues(p) {
			p.extend(next)
		} else {
			p = new(passage)
			*p = *next
			p.head = bytes.Clone(line)
			found = append(found, p)
		}
		at++
		before = chain.Previous{Record: !next.broken, Seq: next.last, Hash: next.hash}
	}
	return found, c.held
}

// record makes a passage of one line, which has this number in its file. It decodes no JSON
// but that of the few records that a verification goes by: the members that it looks for are
// written by this package, in an order of its own.
func (c *combing) record(line []byte, at int, before chain.Previous) passage {
	p := passage{count: 1, before: before.Hash}
	seq, ok := chain.LastSeq(line)
	body, h, chained := chain.CutHash(line)
	p.first, p.last, p.hash, p.bare, p.broken = seq, seq, h, !chained, !ok
	if !ok || !chained {
		return p
	}
	if before.First {
		p.claim = claimOf(body)
		if p.claim != nil {
			copy(p.before[:], p.claim.Hash)
		}
	}
	p.linked = c.sum.Link(p.before, body) == h
	switch kindOf(body) {
	// A checkpoint: of its signature, and of what it says of the record before.
	case 'h':
		if before.First {
			before.Seq, before.Hash = seq-1, p.before
		}
		p.signatures = append(p.signatures, c.keys.verify(line, seq, before))
	// An event, of which three kinds excuse what would be missed.
	case 'v':
		if r, ok := removalOf(line, seq); ok {
			p.removals = append(p.removals, r)
		}
		if s, ok := distrustedBy(line); ok {
			p.distrusted = append(p.distrusted, s)
		}
		if e, ok := erasureOf(line, seq); ok {
			p.erasures = append(p.erasures, e)
		}
	// A call, whose content may lie in the vault.
	case 'a':
		if c.shelf != nil {
			c.content(line, body, seq, at)
		}
	}
	return p
}

// kindOf is the second letter of a record's type, which tells checkpoints and events
// from the others.
func kindOf(body []byte) byte {
	const member = `,"type":"`
	i := bytes.Index(body, []byte(member))
	if i < 0 || i+len(member)+1 >= len(body) {
		return 0
	}
	return body[i+len(member)+1]
}

// claimOf reads the segment member, which stands last in what is hashed.
func claimOf(body []byte) *claim {
	const member = `,"segment":`
	i := bytes.LastIndex(body, []byte(member))
	if i < 0 {
		return nil
	}
	c := &claim{}
	if err := json.Unmarshal(body[i+len(member):], c); err != nil || c.Name == "" {
		return nil
	}
	return c
}

// removalOf reads an event of that kind. It looks for the text first: of a million events few
// are of it.
func removalOf(line []byte, seq uint64) (removal, bool) {
	if !bytes.Contains(line, []byte(`"event":"`+eventRemoved+`"`)) {
		return removal{}, false
	}
	var e struct {
		Attrs struct {
			To   uint64 `json:"to,string"`
			Hash string `json:"hash"`
		} `json:"attrs"`
	}
	err := json.Unmarshal(line, &e)
	return removal{seq, e.Attrs.To, e.Attrs.Hash}, err == nil
}

// continues reports whether a passage is the continuation of the one before it in a file.
// Lines that are no records are kept together, as one finding is enough for them.
func (p *passage) continues(before *passage) bool {
	switch {
	case p.broken || before.broken:
		return p.broken && before.broken
	case p.bare || before.bare:
		return p.bare && before.bare && p.first == before.last+1
	}
	return p.linked && p.first == before.last+1
}

// extend puts a passage behind this one. What the first line says stays that of this one.
func (p *passage) extend(next *passage) {
	p.count += next.count
	p.last, p.hash = next.last, next.hash
	if next.end != nil {
		p.end = next.end
	}
	p.signatures = append(p.signatures, next.signatures...)
	p.removals = append(p.removals, next.removals...)
	p.distrusted = append(p.distrusted, next.distrusted...)
	p.erasures = append(p.erasures, next.erasures...)
}
