package audit

import "sync"

// owed are events that tell of lost records, until they are on record themselves.
// Such an event is about what is wrong with the disk, so that it often cannot be written when it is
// made.
type owed struct {
	record func(kind string, attrs map[string]string) error // Log.Event

	mu     sync.Mutex
	events []owedEvent // in their order
}

// owedEvent is what Log.Event takes.
type owedEvent struct {
	kind  string
	attrs map[string]string
}

// owe records an event, at once or as soon as records can be written.
func (o *owed) owe(kind string, attrs map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, owedEvent{kind, attrs})
	o.settle()
}

// settle records what is owed, as far as it can. Under mu.
func (o *owed) settle() {
	for len(o.events) > 0 {
		e := o.events[0]
		if o.record(e.kind, e.attrs) != nil { // readiness says why
			return
		}
		o.events = o.events[1:]
	}
}
