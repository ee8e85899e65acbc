package stream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// What Next and Cursor say beside what ends a stream.
var (
	// ErrLost tells one client of a feed that the feed has no source any more although
	// its task goes on: the client opens another one, and hands it over with
	// Feed.Resume, or gives up with Feed.Fail or by closing its cursor. What the source
	// ended with is wrapped as well, unless it was its orderly end.
	ErrLost = errors.New("agent stream lost")
	// errGap says that what comes next for a client is not kept (any more), or that the
	// client knows of events that the feed does not. The client is shown the task as it
	// is, and goes on from Feed.Tip.
	errGap = errors.New("events are not kept")
	// ErrFull says that all streams together keep as much as they may.
	ErrFull = errors.New("streams keep too much")
)

// ErrAgain is what a Judge says of an event that it wants to see again once all that came
// before it is in the feed.
var ErrAgain = errors.New("judge the event again")

// Entry is one event of a feed, as it is kept. It never changes.
//
// Data is shared by all clients and by the log; nobody may write to it.
type Entry struct {
	Number uint64  // from 1; 0 in a feed that is bound to no task
	Epoch  [8]byte // tells numbers from those of others that might have had them; zero as well
	Name   string  // of the Server-Sent Event
	Data   []byte  // the agent's words, as its interface speaks
	Last   bool    // the task has ended for good, and its stream with it: the agent owes nothing but the stream's end
	Rest   bool    // if the agent's stream ends here, it is not lost: the task waits for its caller, say
	Made   bool    // by the gateway, of a snapshot
	Seen   any     // what the Judge found; nil in an entry that comes out of a log
}

// Judge looks at one event of a source before anybody gets it and gives what is kept
// of it: usually one entry, none for what is to be dropped, or several. An error ends the
// source; what came before it is still given to clients, and the error to them after it.
// What is given is taken before the next event comes, and may be reused then.
// Unlike a Source's, the event's Data is the Judge's to keep: entries and what it has Seen
// may be parts of it, and are not copied again.
type Judge func(agentevents.Event) ([]Entry, error)

// Opened is a source that has been opened: the body of an agent's response.
type Opened struct {
	Body io.ReadCloser
	// From reads the body. Nil is Events.
	From  func(io.Reader, int) agentevents.Source
	Judge Judge
	// Begins is given the feed that the source opens, before any event is read. Nil for nobody.
	Begins func(*Feed)
	// Form is how the agent speaks ("1.0 JSONRPC"); it is kept with the log's entries and
	// the same for all of a feed.
	Form string
	// End says what it means that reading has come to err: io.EOF, or an error that wraps
	// ErrBroken or ErrTooLarge. With gRPC an orderly end can still be a refusal. Nil leaves
	// it at that; what wraps none of those, nor ErrIdle, is told to clients as it is, and
	// not mended by another source. It is called once at most, not where the gateway ended
	// the stream. May be nil.
	End func(err error) error
	// Stop cancels the request; it is called once, when the source is done with and
	// before the body is closed. The body has been read to its end then, where it had a
	// good one. May be nil.
	Stop func()
	// Stays has the source read to its end although nobody listens: neither Linger nor the
	// last client's leaving ends it.
	Stays bool
}

// HubOptions are what a Hub is made of.
type HubOptions struct {
	Config Config
	// Limits of a source: Event and Idle. The others belong to the relays.
	Limits Limits
	// Replica tells this process from others on the same state.
	Replica string
	// Logs keep the events of tasks for other replicas and the next process. Nil: the
	// memory of this process does.
	Logs state.Logs
	// Holds are leases on tasks; nil where Logs is.
	Holds state.Limits
	// Log is told what no client can be. Nil for nobody.
	Log *slog.Logger
}

// Hub has the feeds of all tasks. It lives as long as the process: feeds outlast
// configurations.
type Hub struct {
	replica string
	logs    state.Logs
	holds   state.Limits
	log     *slog.Logger
	current atomic.Pointer[settings]

	bytes     atomic.Int64  // kept, of all feeds
	borrowers share.Holders // of bytes
	barren    atomic.Int64  // when there was nothing to evict, in nanoseconds

	ctx    context.Context // of what the state is asked
	cancel context.CancelFunc
	pumps  sync.WaitGroup // sources
	wait   sync.WaitGroup // what asks the state

	mu       sync.Mutex // is taken last, after a feed's
	closed   bool       // nothing begins any more
	over     bool       // nor is anything written
	tasks    map[string]*Feed
	sources  map[*source]struct{}
	idle     line // feeds without clients, longest unused first
	reserved map[string]chan struct{}

	leases  map[*Feed]struct{} // feeds whose tasks this replica holds
	renewal *time.Timer        // of leases
	work    []*Feed            // that want to be looked after
	clerks  int                // that do so
	left    chan struct{}      // closed when the last of them has gone
}

// settings are what a reload can change.
type settings struct {
	Config

	limits Limits
}

func (h *Hub) settings() *settings { return h.current.Load() }

// Configure has a new configuration count, for feeds that there are as well; a source is
// read to its end within the limits it began with.
func (h *Hub) Configure(c Config, l Limits) {
	c.Defaults()
	h.current.Store(&settings{c, l})
}

// NewHub begins with no feed.
//
// It starts nothing: goroutines come with sources and logs. Close ends them.
func NewHub(o HubOptions) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		replica: o.Replica, logs: o.Logs, holds: o.Holds, log: o.Log,
		tasks: map[string]*Feed{}, sources: map[*source]struct{}{},
		reserved: map[string]chan struct{}{}, leases: map[*Feed]struct{}{},
	}
	h.Configure(o.Config, o.Limits)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Open makes a feed of a source, and begins to read it at once. The caller takes a
// cursor; until the first one is there, what comes is waited with when the buffer is
// full. The feed belongs to no task, so that nobody else can join it: see Bind.
func (h *Hub) Open(o Opened) *Feed {
	f := newFeed(h)
	f.form = o.Form
	s := f.begin(o)
	if o.Begins != nil {
		o.Begins(f)
	}
	s.start()
	return f
}

// Find gives the feed of a task that has one: live here, kept here, or in the logs, in
// which case it follows what another replica writes there, or finds that none does.
// Nil when there is none. An error says that the logs cannot be read.
func (h *Hub) Find(ctx context.Context, task string) (*Feed, error) {
	h.mu.Lock()
	f := h.tasks[task]
	h.mu.Unlock()
	if !h.persists() || f.isHere() {
		return f, nil
	}
	free, err := h.reserve(ctx, task)
	if err != nil {
		return nil, err
	}
	defer free()
	return h.found(ctx, task)
}

// Close ends all sources, writes to the logs what is left, and gives all leases back.
// Clients are told ErrDraining. It returns when nothing of the hub runs any more.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	sources := slices.Collect(maps.Keys(h.sources))
	feeds := slices.Collect(maps.Values(h.tasks))
	if h.renewal != nil {
		h.renewal.Stop()
	}
	h.mu.Unlock()
	for _, s := range sources {
		s.stop(ending.ErrDraining)
	}
	h.pumps.Wait()
	for _, f := range feeds {
		f.tell(ending.ErrDraining)
	}
	h.settle()
	h.wait.Wait()
	for _, f := range feeds {
		f.mu.Lock()
		f.forget()
		f.mu.Unlock()
	}
}

// enter counts a source among those that run; false when the hub is closed.
func (h *Hub) enter(s *source) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.sources[s] = struct{}{}
	h.pumps.Add(1)
	return true
}

// leave counts a source out. Close waits for all of them.
func (h *Hub) leave(s *source) {
	h.mu.Lock()
	delete(h.sources, s)
	h.mu.Unlock()
	h.pumps.Done()
}
