package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Contents is what a verification knows of captured content, by the records that name it.
type Contents struct {
	Records  int `json:"records"`  // that name content
	Verified int `json:"verified"` // there, with the digest that the record has
	Unread   int `json:"unread"`   // there; without the keys nothing is known of the digest
	Erased   int `json:"erased"`   // as somebody asked for it
	Expired  int `json:"expired"`  // as its time was over
	Lost     int `json:"lost"`     // never kept, as the record says
	Changed  int `json:"changed"`
	Missing  int `json:"missing"` // and nobody erased it
	// Erasures are how often somebody had a subject's content erased; Pending are those of
	// them that the chain does not have yet, since no gateway has run since.
	Erasures int `json:"erasures"`
	Pending  int `json:"pending"`
}

// add adds what was found in another block.
func (c *Contents) add(o Contents) {
	c.Records += o.Records
	c.Verified += o.Verified
	c.Unread += o.Unread
	c.Expired += o.Expired
	c.Lost += o.Lost
}

// held is what a block of records says of content. It is added up when the blocks are put
// together, so that workers share nothing.
type held struct {
	Contents

	amiss []amiss
	fault error // why it could not be looked at
}

// amiss is content that is not there as the record says.
type amiss struct {
	file      string
	line      int
	seq       uint64
	id        string
	principal string
	issuer    string
	start     time.Time
	err       error // vault.ErrErased, ErrAbsent, ErrChanged
}

// naming is what of a record is about content.
type naming struct {
	Start     time.Time `json:"start"`
	Principal string    `json:"principal"`
	Issuer    string    `json:"issuer"`
	Content   struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
		Until  string `json:"until"`
		Lost   bool   `json:"lost"`
	} `json:"content"`
}

// namingOf reads the record of a call, which has content as the last member of its own, or
// before the place of the first of a file.
func namingOf(line, body []byte) (n naming, ok bool) {
	if len(body) == 0 || body[len(body)-1] != '}' || !bytes.Contains(body, []byte(`,"content":{`)) {
		return n, false
	}
	return n, json.Unmarshal(line, &n) == nil
}

// content looks for the content that a record names. What is there is compared with the digest
// where there are keys to open it; what is not is noted, and judged when all records are known:
// the one that says why may come much later, or in another file.
func (c *combing) content(line, body []byte, seq uint64, at int) {
	n, ok := namingOf(line, body)
	if !ok {
		return
	}
	h := &c.held
	h.Records++
	if n.Content.Lost {
		h.Lost++
		return
	}
	var not *fs.PathError
	// A file that cannot be read is no finding about the log: the verification fails by it.
	switch err := c.shelf.Check(n.Content.ID, n.Content.Digest); {
	case err == nil && c.shelf.Sealer == nil:
		h.Unread++
	case err == nil:
		h.Verified++
	case errors.As(err, &not):
		h.fault = errors.Join(h.fault, err)
	case !errors.Is(err, vault.ErrChanged) && n.Content.Until != "" && n.Content.Until < c.today:
		h.Expired++
	default:
		h.amiss = append(h.amiss, amiss{
			line: at, seq: seq, id: n.Content.ID, principal: n.Principal, issuer: n.Issuer, start: n.Start, err: err,
		})
	}
}

// erasure is a record that says that a subject's content was erased.
type erasure struct {
	seq     uint64 // 0 for one that is in no record yet
	id      string
	subject string
	issuer  string    // "" for any
	begun   time.Time // what ended before is meant
}

// erasureOf reads an event of that kind, as removalOf does.
func erasureOf(line []byte, seq uint64) (erasure, bool) {
	if !bytes.Contains(line, []byte(`"event":"`+eventErased+`"`)) {
		return erasure{}, false
	}
	var e struct {
		Attrs struct {
			Erasure   string    `json:"erasure"`
			Principal string    `json:"principal"`
			Issuer    string    `json:"issuer"`
			Begun     time.Time `json:"begun"`
		} `json:"attrs"`
	}
	err := json.Unmarshal(line, &e)
	return erasure{seq, e.Attrs.Erasure, e.Attrs.Principal, e.Attrs.Issuer, e.Attrs.Begun}, err == nil
}

// accounts reports whether an erasure says why content is not there. A call whose record
// came later may have left its content before; it began before then, too.
func (e erasure) accounts(a *amiss) bool {
	return e.subject == a.principal && (e.issuer == "" || e.issuer == a.issuer) &&
		(e.seq > a.seq || !a.start.After(e.begun))
}

// contents judges content that is not there. An erasure has a record when it begins and one
// when it ended, and may have further ones after a crash; by their id they are one.
func (j *judging) contents() {
	c := &j.held.Contents
	erasures := map[string][]erasure{} // by subject
	ids := map[string]bool{}
	note := func(e erasure) bool {
		erasures[e.subject] = append(erasures[e.subject], e)
		fresh := e.id == "" || !ids[e.id] // each has several records
		ids[e.id] = true
		if fresh {
			c.Erasures++
		}
		return fresh
	}
	// Only records that are kept count: a line that was put in excuses nothing.
	for _, p := range j.kept {
		for _, e := range p.erasures {
			note(e)
		}
	}
	for _, e := range j.pending {
		if note(e) {
			c.Pending++
		}
	}
	for i := range j.held.amiss {
		a := &j.held.amiss[i]
		if !errors.Is(a.err, vault.ErrChanged) && accounted(erasures[a.principal], a) {
			c.Erased++
			continue
		}
		j.amiss(a)
	}
	if *c != (Contents{}) {
		j.report.Content = c
	}
}

// accounted reports whether one of a subject's erasures says why content is not there.
func accounted(erasures []erasure, a *amiss) bool {
	for _, e := range erasures {
		if e.accounts(a) {
			return true
		}
	}
	return false
}

// amiss finds content that is not what was kept, or that is not there and nobody erased.
// When the latest records are not looked at, one of them may say that somebody did.
func (j *judging) amiss(a *amiss) {
	f := Finding{Kind: ChangedContent, Segment: a.file, Line: a.line, From: a.seq, To: a.seq}
	if errors.Is(a.err, vault.ErrChanged) {
		j.held.Changed++
		f.Text = fmt.Sprintf("of %s: %s: %v", records(a.seq, a.seq), a.id, a.err)
	} else {
		j.held.Missing++
		f.Kind = MissingContent
		f.Text = fmt.Sprintf("of %s: %s is not there, and no record says that it was erased", records(a.seq, a.seq), a.id)
		if j.cut.after {
			return
		}
	}
	j.report.find(f)
}

// readPending reads which erasures there were that no record had when the verification
// began. It is done last: an erasure is noted before anything is destroyed. A gateway may
// have recorded them meanwhile, behind what was read.
func (v *verifier) readPending() error {
	if v.shelf == nil {
		return nil
	}
	all, _, err := v.shelf.Since(v.told)
	for _, e := range all {
		if e.Why == "" {
			v.pending = append(v.pending, erasure{id: e.ID, subject: telemetry.Clean(e.Subject), issuer: telemetry.Clean(e.Issuer), begun: e.Time})
		}
	}
	return err
}
