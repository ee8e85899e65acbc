package audit

import "sync"

// deferredEvents are events that tell of lost records, until they are on record themselves.
// Such an event is about what is wrong with the disk, so that it often cannot be written when it is
// made.
type deferredEvents struct {
	record func(kind string, attrs map[string]string) error // Log.Event

	mu     sync.Mutex
	events []deferredEvent // in their order
}

// deferredEvent is what Log.Event takes.
type deferredEvent struct {
	kind  string
	attrs map[string]string
}

// put records an event, at once or as soon as records can be written.
func (o *deferredEvents) put(kind string, attrs map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, deferredEvent{kind, attrs})
	o.settle()
}

// settle records what is owed, as far as it can. Under mu.
func (o *deferredEvents) settle() {
	for len(o.events) > 0 {
		e := o.events[0]
		if o.record(e.kind, e.attrs) != nil { // readiness says why
			return
		}
		o.events = o.events[1:]
	}
}
