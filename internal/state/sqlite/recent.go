package sqlite

import (
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// mostRecent is how many records are remembered, up to twice as many at times.
const mostRecent = 4096

// recent are records that were read or written not long ago. What a record says never changes, and
// nobody else has the file: most calls ask for the same context three times over, and a
// statement costs more than the rest of what is asked about a call. It is only asked for records of
// which the file says that they were used within a grain, which are alive whatever else is
// known of them.
type recent struct {
	mu         sync.Mutex
	young, old map[use]known // a record that is asked for moves to the young ones
}

// known is a record, and when it was used, in Unix seconds, as the file has it.
type known struct {
	record state.Record
	used   int64
}

// find gives a record that is remembered.
func (c *recent) find(k use) (known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.young[k]; ok {
		return r, true
	}
	r, ok := c.old[k]
	if ok {
		c.put(k, r)
	}
	return r, ok
}

// remember takes a record that the file has.
func (c *recent) remember(r state.Record, used int64) {
	// An append by one of them then makes a copy instead of writing into the array of all.
	r.Extensions = slices.Clip(r.Extensions) // several callers get them
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(use{kind: r.Kind, agent: r.Agent, id: r.ID}, known{r, used})
}

// put forgets those that nobody asked for since there were as many others. Under mu.
func (c *recent) put(k use, r known) {
	// Two generations instead of a list in the order of use: a hit in the young one moves nothing, and
	// to forget is to drop a map.
	if len(c.young) >= mostRecent || c.young == nil {
		c.young, c.old = make(map[use]known), c.young
	}
	c.young[k] = r
}

// remembered finds a record without asking the file.
func (l *ledger) remembered(agent string, k state.Kind, id string, now time.Time) (state.Record, bool) {
	r, ok := l.recent.find(use{kind: k, agent: agent, id: id})
	// After a grain the use has to be noted, which live does; until then nothing need be asked.
	if !ok || now.Unix()-r.used >= int64(l.uses.grain/time.Second) {
		return state.Record{}, false
	}
	return r.record, true
}
