package state

import (
	"bytes"
	"container/list"
	"strings"
	"sync"

	"github.com/tidwall/btree"
)

// standing says what an item is to whoever takes.
type standing uint8

const (
	behind    standing = iota // not the first of its line
	free                      // the first, from its due time on
	leased                    // the first, from the end of the lease on
	dead                      // until it is forgotten
	standings = iota
)

// backlog is one queue of the memory driver. Items of one line, such as the webhooks of one task,
// are handed out in the order in which they were pushed: only the first of a line is free, and
// the next one becomes it when that is done or dead. Each item is found by its ID, in its line,
// and, as far as it matters when, by time: every operation takes as long as some steps through trees.
type backlog struct {
	mu      sync.Mutex
	last    uint64 // number of the latest item
	works   map[string]*work
	lines   map[string]*lane
	at      [standings]*btree.BTreeG[*work] // by work.at; none of those behind
	age     *btree.BTreeG[*work]            // those that wait, by when they were pushed
	waiting btree.Map[string, *work]
	buried  btree.Map[string, *work]
	stakes  map[string]*stake // by owner
}

// stake is what an owner has in a queue.
type stake struct {
	waiting int
	dead    *btree.BTreeG[*work] // by when they are forgotten
}

// work is an item as the memory driver holds it. Times are those of Micros.
type work struct {
	id, line    string
	owner       string
	data        []byte
	pushed, due int64
	attempts    int
	failure     string
	number      uint64 // its place among all
	holder      string // the latest, until the item is settled; "" for nobody
	place       standing
	at          int64         // when what its place says comes to pass
	element     *list.Element // in its lane
}

func newBacklog() *backlog {
	b := &backlog{works: make(map[string]*work), lines: make(map[string]*lane), stakes: make(map[string]*stake)}
	for p := free; p < standings; p++ {
		b.at[p] = tree(func(w *work) int64 { return w.at })
	}
	b.age = tree(func(w *work) int64 { return w.pushed })
	return b
}

func tree(time func(*work) int64) *btree.BTreeG[*work] {
	less := func(a, b *work) bool {
		if time(a) != time(b) {
			return time(a) < time(b)
		}
		return a.number < b.number
	}
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// newWork makes copies of what the caller holds.
func newWork(it Item) *work {
	line := strings.Clone(it.Line)
	return &work{
		id: strings.Clone(it.ID), line: line, owner: (&Item{Line: line}).Owner(), data: bytes.Clone(it.Data),
		pushed: Micros(it.Pushed), due: Micros(it.Due),
	}
}

// item is what callers see, with data of their own.
func (w *work) item() Item {
	return Item{
		ID: w.id, Line: w.line, Data: bytes.Clone(w.data), Pushed: FromMicros(w.pushed), Due: FromMicros(w.due),
		Attempts: w.attempts, Error: w.failure, Dead: w.place == dead,
	}
}

// fail notes a try that came to nothing.
func (w *work) fail(failure string) {
	w.attempts++
	w.failure = strings.Clone(CutFailure(failure))
	w.holder = ""
}

// load is how many there are, and once more those of an owner: what has to stay within the
// limit, so that an owner has no more than there is room for others.
func (b *backlog) load(all int, owner string, own func(*stake) int) int64 {
	if s := b.stakes[owner]; s != nil && owner != "" {
		all += own(s)
	}
	return int64(all)
}

// stake finds or makes an owner's.
func (b *backlog) stake(owner string) *stake {
	s := b.stakes[owner]
	if s == nil {
		s = &stake{dead: tree(func(w *work) int64 { return w.at })}
		b.stakes[owner] = s
	}
	return s
}

// held finds an item that is holder's, or nil.
func (b *backlog) held(holder, id string) *work {
	if w := b.works[id]; w != nil && holder != "" && w.holder == holder {
		return w
	}
	return nil
}

// index is the dead, or those that wait, by ID.
func (b *backlog) index(dead bool) *btree.Map[string, *work] {
	if dead {
		return &b.buried
	}
	return &b.waiting
}
