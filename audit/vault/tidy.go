package vault

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Tidy destroys, once a day, what has been kept for its time, and removes the files that
// nothing is left in. Where something was due it is an erasure like others.
// The mutex is not held while files are worked on: calls keep content meanwhile.
func (v *Vault) Tidy() (Erasure, error) {
	v.mu.Lock()
	now, last, writing := v.now(), v.last, v.files != nil
	x := expiry{Reader: Reader{v.dir, v.sealer}, today: dayOf(now), last: last, writing: writing}
	done := v.tidied == x.today
	v.mu.Unlock()
	if done {
		return Erasure{}, nil
	}
	e := Erasure{ID: rand.Text(), Time: now.UTC(), State: Begun, Why: Retention}
	err := x.run(&e)
	if err == nil {
		v.mu.Lock()
		v.tidied = x.today
		v.mu.Unlock()
	}
	return e, err
}

// expiry destroys the keys of drawers whose last day is over, and removes files that are
// left without any and that nobody writes to.
type expiry struct {
	Reader

	today   string
	last    name // what is begun from now on comes after it
	writing bool // to last
}

// over reports whether the time of what is in a drawer is over: with the end of its last day, in
// UTC wherever the gateway is, and never for what is kept for ever.
func (x *expiry) over(d drawer) bool { return d.Until != "" && d.Until < x.today }

// run makes e what was destroyed, with no state where nothing was due: most days nothing is noted.
// An error about one file does not keep the others from being looked at.
func (x *expiry) run(e *Erasure) error {
	names, err := list(x.Dir)
	if err != nil {
		return err
	}
	var faults []error
	if !slices.ContainsFunc(names, x.due) {
		e.State = ""
	} else if err := x.note(*e); err != nil {
		return err
	}
	for _, n := range names {
		// Erasing by age is erasing like any other: the keys go, the frames stay until the file is
		// empty.
		left, gone, err := destroy(x.Dir, n, x.Sealer, func(d drawer, _ int64) bool { return x.over(d) })
		err = errors.Join(err, e.count(x.Dir, n, gone))
		if err == nil && left == 0 && x.removable(n) {
			err = x.remove(n)
		}
		faults = append(faults, err)
	}
	if e.State == "" {
		return errors.Join(faults...)
	}
	return x.end(e, errors.Join(faults...))
}

// due reports whether a file has a drawer whose time is over. What cannot be opened is
// found when it is to be destroyed. It is asked of all files before anything is destroyed, so that
// the note that an erasure has begun is there first.
func (x *expiry) due(n name) bool {
	keys, _ := x.keys(n)
	for _, o := range keys {
		if x.over(o.drawer) {
			return true
		}
	}
	return false
}

// removable reports whether a pair may go: the one that is written to may not.
func (x *expiry) removable(n name) bool { return n.compare(x.last) < 0 || n == x.last && !x.writing }

// remove removes a pair, the content before its keys. Of the newest the file of keys stays, in
// which there is none: its name is in records, and after a restart what is begun next would get it
// again.
func (x *expiry) remove(n name) error {
	forms := []string{dataForm, keysForm}
	if n == x.last {
		forms = forms[:1]
	}
	for _, form := range forms {
		if err := os.Remove(n.path(x.Dir, form)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove content: %w", err)
		}
	}
	return nil
}
