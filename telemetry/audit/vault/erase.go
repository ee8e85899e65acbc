package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// Subject is whose content is meant.
type Subject struct {
	Name   string
	Issuer string // "" for any
}

func (s Subject) is(issuer, name string) bool {
	return s.Name == name && (s.Issuer == "" || s.Issuer == issuer)
}

// Of is what there is of a subject, the oldest first.
func (r Reader) Of(s Subject) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for item, err := range r.Items() {
			if (err != nil || s.is(item.Issuer, item.Subject)) && !yield(item, err) {
				return
			}
		}
	}
}

// Erasure is what was erased, an entry of content-erased.jsonl.
type Erasure struct {
	Time    time.Time `json:"time"`
	State   string    `json:"state"` // begun, done; or failed: to be done again
	Subject string    `json:"subject"`
	Issuer  string    `json:"issuer,omitempty"`
	Items   int       `json:"items"`
	Bytes   int64     `json:"bytes"`
}

const erasureLog = "content-erased.jsonl"

// Erase destroys what there is of a subject, for good: not even whoever has the gateway's
// keys and the files can read it then. It may be done again, and while a gateway writes.
func (r Reader) Erase(s Subject, now time.Time) (Erasure, error) {
	done := Erasure{Time: now.UTC(), State: "begun", Subject: s.Name, Issuer: s.Issuer}
	names, err := list(r.Dir)
	if err == nil {
		err = r.note(done)
	}
	if err != nil {
		return Erasure{}, fmt.Errorf("erase content: %w", err)
	}
	var faults []error
	for _, n := range names {
		_, gone, err := destroy(r.Dir, n, r.Sealer, func(d drawer) bool { return s.is(d.Issuer, d.Subject) })
		if err == nil {
			err = done.count(r.Dir, n, gone)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if done.State = "done"; len(faults) > 0 {
		done.State = "failed"
	}
	if err := errors.Join(append(faults, r.note(done))...); err != nil {
		return done, fmt.Errorf("erase content: %w", err)
	}
	return done, nil
}

// count adds what was in some drawers.
func (e *Erasure) count(dir string, n name, gone []*opened) error {
	if len(gone) == 0 {
		return nil
	}
	ids := make(map[[keyID]byte]bool, len(gone))
	for _, o := range gone {
		ids[o.id] = true
	}
	for f, err := range frames(dir, n) {
		if err != nil {
			return err
		}
		if ids[f.key] {
			e.Items++
			e.Bytes += int64(len(f.sealed))
		}
	}
	return nil
}

// note writes an entry, which tells a gateway that runs to make new drawers.
func (r Reader) note(e Erasure) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.Dir, erasureLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// Erasures is how much was erased, by whole entries of the log, and how many erasures
// there were.
func (r Reader) Erasures() ([]Erasure, error) {
	all, err := os.ReadFile(filepath.Join(r.Dir, erasureLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return entries(all), nil
}

// erasures is how far the log of erasures goes.
type erasures struct {
	size  int64
	moved time.Time
}

func erasuresOf(dir string) erasures {
	info, err := os.Stat(filepath.Join(dir, erasureLog))
	if err != nil {
		return erasures{}
	}
	return erasures{info.Size(), info.ModTime()}
}

// entries reads the ends of erasures. What is torn, or is none, is passed over.
func entries(log []byte) (done []Erasure) {
	for line := range bytes.Lines(log) {
		var e Erasure
		if json.Unmarshal(line, &e) == nil && e.State == "done" {
			done = append(done, e)
		}
	}
	return done
}
