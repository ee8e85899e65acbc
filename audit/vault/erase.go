package vault

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"time"
)

// Subject is whose content is meant, by the name that records have for them: whoever asks for erasure
// is known to the log as a principal, and not by what was said in the content.
type Subject struct {
	Name   string
	Issuer string // "" for any
}

// is reports whether somebody is the subject. Without an issuer it is whoever has the name.
func (s Subject) is(issuer, name string) bool {
	return s.Name == name && (s.Issuer == "" || s.Issuer == issuer)
}

// Of is what there is of a subject, the oldest first, behind the item of an id: "" for all. It is for
// who asks what is kept about them, before anything is erased.
func (r Reader) Of(s Subject, after string) iter.Seq2[Item, error] {
	from, at, ok := parseID(after)
	if !ok && after != "" {
		return func(yield func(Item, error) bool) { yield(Item{}, ErrAbsent) }
	}
	return r.items(func(d drawer) bool { return s.is(d.Issuer, d.Subject) }, func(n name) int64 {
		switch c := n.compare(from); {
		case ok && c < 0:
			return math.MaxInt64
		case ok && c == 0:
			return at + 1
		}
		return 0
	})
}

// Erasure is an entry of content-erased.jsonl: what was erased, for somebody who asked for
// it or as its time was over.
type Erasure struct {
	ID      string    `json:"id,omitempty"` // of all its entries
	Time    time.Time `json:"time"`         // when it began
	State   string    `json:"state"`
	Why     string    `json:"why,omitempty"` // Retention, or nothing: somebody asked for it
	Subject string    `json:"subject,omitempty"`
	Issuer  string    `json:"issuer,omitempty"` // "" for any
	Items   int       `json:"items"`
	Bytes   int64     `json:"bytes"`
}

// Values of Erasure.State and Erasure.Why.
const (
	Begun     = "begun"
	Done      = "done"
	Failed    = "failed" // some of it may be left: to be done again
	Retention = "retention"
)

// Erase destroys what there is of a subject, for good: not even whoever has the gateway's
// keys and the files can read it then. It may be done again, and while a gateway writes:
// what comes later is not touched. id is that of the erasure; "" for a new one.
// The order is: look how far the key files go, note the beginning, destroy, note the end. A gateway
// that sees the note makes new drawers, so that what it keeps from then on is not touched.
func (r Reader) Erase(s Subject, id string, now func() time.Time) (Erasure, error) {
	if id == "" {
		id = rand.Text()
	}
	e := Erasure{ID: id, State: Begun, Subject: s.Name, Issuer: s.Issuer}
	// Before the note, at which a gateway that runs makes new drawers: none of them is meant.
	names, ends, err := r.ends()
	if err == nil {
		e.Time = now().UTC()
		err = r.note(e)
	}
	if err != nil {
		return Erasure{}, fmt.Errorf("erase content: %w", err)
	}
	var faults []error
	// All files are gone through, also after an error in one: what can be destroyed is.
	for i, n := range names {
		_, gone, err := destroy(r.Dir, n, r.Sealer, func(d drawer, at int64) bool {
			return at < ends[i] && s.is(d.Issuer, d.Subject)
		})
		faults = append(faults, err, e.count(r.Dir, n, gone))
	}
	if err := r.end(&e, errors.Join(faults...)); err != nil {
		return e, fmt.Errorf("erase content: %w", err)
	}
	return e, nil
}

// ends are the files, and how far their keys go. Keys that are appended later belong to content that
// came after the erasure was asked for.
func (r Reader) ends() ([]name, []int64, error) {
	names, err := list(r.Dir)
	if err != nil {
		return nil, nil, err
	}
	sizes := make([]int64, len(names))
	for i, n := range names {
		info, err := os.Stat(n.path(r.Dir, keysForm))
		switch {
		case err == nil:
			sizes[i] = info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		}
	}
	return names, sizes, nil
}

// end notes how an erasure has ended. One that failed is noted too, so that nobody takes what was
// begun for done; it is done again under the same id.
func (r Reader) end(e *Erasure, fault error) error {
	if e.State = Done; fault != nil {
		e.State = Failed
	}
	return errors.Join(fault, r.note(*e))
}

// count adds what was in some drawers, for the note and for who asked.
func (e *Erasure) count(dir string, n name, gone []*opened) error {
	if len(gone) == 0 {
		return nil
	}
	ids := make(map[[keyID]byte]bool, len(gone))
	for _, o := range gone {
		ids[o.id] = true
	}
	// Frames are only counted, and not opened: their keys are gone.
	for f, err := range frames(dir, n, 0, func([keyID]byte) bool { return false }) {
		if err != nil {
			return err
		}
		if ids[f.key] {
			e.Items++
			e.Bytes += f.size
		}
	}
	return nil
}
