package ownership

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// Shown is what agents have shown of tasks that have ended, whichever configuration that
// was under: by it is noticed that an agent goes on with one, or alters its artifacts. It is
// in the memory of this process, and bounded. The zero value has nothing.
//
// One mutex guards all of it; nothing under it waits or parses. It is a cache: what has been
// forgotten is not noticed, and nothing is refused for that.
type Shown struct {
	mu     sync.Mutex
	tasks  map[ShownKey]*list.Element // of *shownTask
	newest list.List                  // newest first
	bytes  int
	of     map[string]shownOf // what agents have of both
}

// shownOf is what is remembered of one agent's tasks.
type shownOf struct{ tasks, bytes int }

// ShownKey is a task of an agent's.
type ShownKey struct{ Agent, Task string }

// shownTask is what one was shown to be.
type shownTask struct {
	ShownKey
	state string // a terminal one, or the one that came behind it
	at    time.Time
	doc   []byte  // the answer or event that showed it whole, in the agent's words; nil for none
	as    Dialect // which are these

	// Of a task whose artifacts the agent posts to a webhook, from a task on: whether nothing
	// more comes of each.
	closed map[ArtifactKey]bool
}

// Sighting is one more look at a task.
type Sighting struct {
	ShownKey
	State string
	Since time.Time // what it shows was so at that time or later
	doc   []byte    // the task as a whole, in the agent's words; nil where it is not
	as    Dialect

	listed bool // in a list, of which nothing is remembered but of tasks that are known
}

// MostShown is how large an answer is that is remembered.
const MostShown = 64 << 10

// look compares a sighting with what was shown before, and remembers it. before is what
// showed the task when it had ended, for a comparison of artifacts; nil where they cannot
// differ. It has no doc where that was not an answer, or a large one.
//
// A sighting counts as later only if it was asked for after the task had been shown to end,
// because answers overtake each other.
func (s *Shown) look(g Sighting, c *stream.Config) (before *shownTask, wrong error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	el := s.tasks[g.ShownKey]
	if el == nil {
		if taskstate.Terminal(g.State) && !g.listed {
			s.add(g, c.Remember)
		}
		return nil, nil
	}
	e, _ := el.Value.(*shownTask)
	over := taskstate.Terminal(e.state) && e.at.Before(g.Since)
	switch {
	case !over && !taskstate.Terminal(g.State): // it goes on, or is an older word of it
		return nil, nil
	case over && g.State != e.state:
		wrong = grammar.ErrBackwards
	case g.State == e.state && g.doc != nil && !e.sameResult(&g):
		before = &shownTask{ShownKey: e.ShownKey, doc: e.doc, as: e.as}
	}
	if wrong != nil && c.Enforces(wrong) || before != nil && c.Enforces(grammar.ErrAltered) {
		return before, wrong // what was delivered stays what it was
	}
	if e.state, e.at = g.State, time.Now(); g.doc != nil && !bytes.Equal(e.doc, g.doc) {
		s.keep(e, g)
	}
	s.newest.MoveToFront(el)
	s.bound(e.Agent, c.Remember)
	return before, wrong
}

// add remembers a task for the first time. The map is made then, as most processes never need it.
func (s *Shown) add(g Sighting, c stream.Remembered) {
	if s.tasks == nil {
		s.tasks, s.of = map[ShownKey]*list.Element{}, map[string]shownOf{}
	}
	e := &shownTask{ShownKey: g.ShownKey, state: g.State, at: time.Now()}
	s.keep(e, g)
	s.count(e.Agent, 1, 0)
	s.tasks[g.ShownKey] = s.newest.PushFront(e)
	s.bound(e.Agent, c)
}

// keep remembers the answer, unless it is large.
func (s *Shown) keep(e *shownTask, g Sighting) {
	s.count(e.Agent, 0, -e.size())
	if e.doc, e.as = nil, g.as; len(g.doc) <= MostShown {
		e.doc = bytes.Clone(g.doc)
	}
	s.count(e.Agent, 0, e.size())
}

// perArtifact is about how many bytes of memory are taken by what is known of one.
const perArtifact = 48

// size is about how many bytes of memory grow with what an agent says of a task.
func (e *shownTask) size() int { return len(e.doc) + perArtifact*len(e.closed) }

// count takes in what has become more, or less, of an agent's tasks.
func (s *Shown) count(agent string, tasks, bytes int) {
	s.bytes += bytes
	has := s.of[agent]
	if has.tasks, has.bytes = has.tasks+tasks, has.bytes+bytes; has == (shownOf{}) {
		delete(s.of, agent)
		return
	}
	s.of[agent] = has
}

// bound forgets what was not looked at for longest: of the agent at hand, where that has more
// than half, so that no agent has forgotten what another one did.
func (s *Shown) bound(agent string, c stream.Remembered) {
	for s.newest.Len() > c.Tasks || s.bytes > int(c.Bytes) {
		el := s.newest.Back()
		e, _ := el.Value.(*shownTask)
		if has := s.of[agent]; 2*has.tasks > c.Tasks || 2*has.bytes > int(c.Bytes) {
			for e.Agent != agent { // has some
				el = el.Prev()
				e, _ = el.Value.(*shownTask)
			}
		}
		s.newest.Remove(el)
		s.count(e.Agent, -1, -e.size())
		delete(s.tasks, e.ShownKey)
	}
}

// sameResult reports whether a sighting is the same answer, but maybe for the id of its call,
// which is all that stands beside a result. Where the results are is looked for only here:
// most tasks are shown once, and their answers cost nothing more.
func (e *shownTask) sameResult(g *Sighting) bool {
	if e.doc == nil || e.as.Side != g.as.Side || len(g.doc) > 2*MostShown {
		return false
	}
	return bytes.Equal(e.doc, g.doc) || bytes.Equal(ResultOf(e.as.Binding, e.doc), ResultOf(g.as.Binding, g.doc))
}

// MostChunked is how many artifacts of one task are told apart.
const MostChunked = 1024

// ArtifactKey stands for an artifact's id as it is written. Agents choose how long an id is,
// and nobody else holds it to a bound.
type ArtifactKey [16]byte

// KeyOf is what an artifact of any length of id is remembered by.
func KeyOf(id []byte) ArtifactKey {
	sum := sha256.Sum256(id)
	return ArtifactKey(sum[:])
}

// begin has the artifacts followed of a task that an agent posts as a whole; ids are those
// that it has.
//
// At most MostChunked artifacts of a task are told apart; of others nothing is known, and nothing
// is held against the agent.
func (s *Shown) begin(k ShownKey, state string, ids []ArtifactKey, c stream.Remembered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[k] == nil {
		s.add(Sighting{ShownKey: k, State: state}, c)
	}
	el := s.tasks[k]
	if el == nil {
		return
	}
	e, _ := el.Value.(*shownTask)
	if e.closed == nil {
		e.closed = make(map[ArtifactKey]bool, min(len(ids), MostChunked))
	}
	s.count(e.Agent, 0, -e.size())
	for _, id := range ids {
		if _, known := e.closed[id]; !known && len(e.closed) < MostChunked {
			e.closed[id] = false
		}
	}
	s.count(e.Agent, 0, e.size())
	s.bound(k.Agent, c)
}

// chunk takes in an update of an artifact that an agent posts. appends and last are what it
// says of the artifact.
func (s *Shown) chunk(k ShownKey, id ArtifactKey, appends, last bool, c stream.Remembered) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	el := s.tasks[k]
	if el == nil {
		return nil
	}
	e, _ := el.Value.(*shownTask)
	if e.closed == nil {
		return nil // nobody knows which artifacts there were
	}
	s.count(e.Agent, 0, -e.size())
	wrong := Chunked(e.closed, id, appends, last)
	s.count(e.Agent, 0, e.size())
	s.bound(k.Agent, c)
	return wrong
}

// ended is what showed a task when it had ended; nil where it is not known to have.
func (s *Shown) ended(k ShownKey) *shownTask {
	s.mu.Lock()
	defer s.mu.Unlock()
	el := s.tasks[k]
	if el == nil {
		return nil
	}
	e, _ := el.Value.(*shownTask)
	if !taskstate.Terminal(e.state) {
		return nil
	}
	return &shownTask{ShownKey: k, doc: e.doc, as: e.as}
}

// Chunked takes in an update of an artifact. closed has those that have begun, and whether
// nothing more is to come of each.
//
// It returns ErrChunkFirst for a chunk that appends to nothing, ErrChunkAfterLast for one behind
// lastChunk, and nil where it cannot tell.
func Chunked(closed map[ArtifactKey]bool, id ArtifactKey, appends, last bool) error {
	over, known := closed[id]
	switch {
	case !known && len(closed) >= MostChunked:
		return nil
	case !known || last && !over:
		closed[id] = last
	}
	switch {
	case appends && !known:
		return grammar.ErrChunkFirst
	case appends && over:
		return grammar.ErrChunkAfterLast
	}
	return nil
}

// folded is what an answer or event shows of a task.
func (e *shownTask) folded() (*fold.Task, error) {
	t := new(fold.Task)
	err := e.as.shows(e.doc, func(event []byte) error { return t.Apply(event) })
	return t, err
}
