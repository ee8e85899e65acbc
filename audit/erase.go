package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// Events about captured content that was destroyed: because somebody wanted it, or as its
// time was over.
const eventExpired = "content.expired"

// byDirectory is who erased what, of an erasure that only the files tell of: whoever may
// write them.
const byDirectory = "directory"

// ErrUnrecorded means that nothing was erased, as that could not be recorded.
var ErrUnrecorded = errors.New("the erasure cannot be recorded")

var errNoKeys = errors.New("there are no keys that captured content is sealed with")

// erasures sees to it that every erasure gets into the chain: those that the gateway was
// asked for, and those that the log of erasures has, by commands that work on the files.
// There are two ways to erase: through the gateway (the console), and by a command on the files,
// which works while no gateway runs. The vault notes both in a log of its own, and this type brings
// what is noted there into the chain.
type erasures struct {
	sync.Mutex

	own   map[string]ownErasure // by id, until the log of erasures was read past them
	noted int64                 // how far it was read
	fault error                 // of the last try
}

// ownErasure is one that the gateway was asked for.
type ownErasure struct {
	by   map[string]string
	told string // the state that a record has
}

// Captured is what there is of a subject, the oldest first, behind the item of an id.
func (l *Log) Captured(s vault.Subject, after string) iter.Seq2[vault.Item, error] {
	c := l.content.Load()
	if c == nil {
		return func(yield func(vault.Item, error) bool) { yield(vault.Item{}, errNoKeys) }
	}
	return c.held.Of(s, after)
}

// CapturedItem is what was captured of one call, by the id that its record has. Its errors are those of
// vault.Reader.
func (l *Log) CapturedItem(id string) (vault.Item, error) {
	c := l.content.Load()
	if c == nil {
		return vault.Item{}, errNoKeys
	}
	return c.held.Item(id)
}

// Erase destroys what was captured of a subject's calls. A record says so before, with
// by, which says who wants it, and another how it ended. Where the first cannot be written
// nothing is erased, unless Config.FailOpen. Should the gateway end in between, the next
// one records what became of it.
// The record before comes first so that there is none of the kind "it is gone, and nobody knows
// why".
func (l *Log) Erase(s vault.Subject, by map[string]string) (vault.Erasure, error) {
	c := l.content.Load()
	if c == nil {
		return vault.Erasure{}, errNoKeys
	}
	l.erasures.Lock()
	defer l.erasures.Unlock()
	id := rand.Text()
	begun := vault.Erasure{ID: id, State: vault.Begun, Subject: s.Name, Issuer: s.Issuer}
	// What this process was asked for is told with who asked; what only the files tell of has no
	// such name.
	own := ownErasure{by: by, told: vault.Begun}
	err := l.Event(eventErased, erasureAttrs(begun, by))
	if err == nil {
		err = l.syncNow() // power may be lost, and what was destroyed be destroyed all the same
	}
	switch {
	case err != nil && !l.config.FailOpen():
		return vault.Erasure{}, fmt.Errorf("%w: %w", ErrUnrecorded, err)
	case err != nil:
		own.told = ""
	}
	// The clock is the log's, so that what counts as kept before the erasure is told by one clock.
	done, fault := c.held.Erase(s, id, l.disk.now)
	if done.State == "" { // it was not even noted
		begun.State, done = vault.Failed, begun
	}
	if l.Event(eventErased, erasureAttrs(done, by)) == nil {
		own.told = done.State
	}
	if l.erasures.own == nil {
		l.erasures.own = map[string]ownErasure{}
	}
	l.erasures.own[id] = own
	l.erasures.fault = l.tellNow(c)
	return done, fault
}

// erasureAttrs are the attributes of an event. Content whose time was over has no subject in
// it: it was destroyed for its age, of whomever it was.
func erasureAttrs(e vault.Erasure, by map[string]string) map[string]string {
	attrs := map[string]string{"erasure": e.ID, "outcome": e.State}
	maps.Copy(attrs, by)
	if e.Why == "" {
		attrs["principal"], attrs["issuer"] = e.Subject, e.Issuer
	}
	if !e.Time.IsZero() {
		attrs["begun"] = e.Time.UTC().Format(time.RFC3339Nano)
	}
	if e.State != vault.Begun {
		attrs["calls"], attrs["bytes"] = strconv.Itoa(e.Items), strconv.FormatInt(e.Bytes, 10)
	}
	return attrs
}

// tellErasures records the erasures that no record has yet.
func (l *Log) tellErasures() {
	c := l.content.Load()
	if c == nil {
		return
	}
	l.erasures.Lock()
	defer l.erasures.Unlock()
	if c.held.Noted() == l.erasures.noted && l.erasures.fault == nil {
		return
	}
	err := l.tellNow(c)
	if err != nil && l.erasures.fault == nil {
		l.logger.Error("erasures cannot be recorded", "dir", l.config.Dir, "error", err)
	}
	l.erasures.fault = err
}

// tellNow reads on in the log of erasures. What was recorded is on the disk before the
// place is kept: what is recorded twice has the same id, what never is would be lost.
// Records are written before the place is kept: killed in between, the erasure is recorded twice
// under one id, which the verification counts once.
func (l *Log) tellNow(c *content) error {
	for {
		all, end, err := c.held.Untold()
		if err != nil || end == l.erasures.noted {
			return err
		}
		for _, e := range all {
			if err := l.tellErasure(e); err != nil {
				return err
			}
		}
		if err := errors.Join(l.syncNow(), c.held.Told(end)); err != nil {
			return err
		}
		l.erasures.noted = end
		for _, e := range all {
			delete(l.erasures.own, e.ID)
		}
	}
}

// tellErasure records one, unless it has been.
func (l *Log) tellErasure(e vault.Erasure) error {
	own, ours := l.erasures.own[e.ID]
	kind, by := eventErased, own.by
	switch {
	case ours && own.told == e.State && e.ID != "": // older versions gave no ids
		return nil
	case e.Why == vault.Retention:
		kind = eventExpired
	case !ours:
		by = map[string]string{"who": byDirectory}
	}
	if err := l.Event(kind, erasureAttrs(e, by)); err != nil {
		return err
	}
	if l.erasures.own == nil {
		l.erasures.own = map[string]ownErasure{}
	}
	l.erasures.own[e.ID] = ownErasure{by: by, told: e.State} // should the next one fail
	return nil
}
