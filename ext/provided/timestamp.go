package provided

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// timestamp says of messages and artifacts when they were made, as far as a gateway
// knows: when they came by. It is its URI without the scheme; the samples' code and
// the text of their specification have two, and either has its own metadata key.
type timestamp struct{ path string }

func (p timestamp) uri() string { return "https://" + p.path }

// Declared is how served cards list it.
func (p timestamp) Declared() ext.Declared {
	return ext.Declared{
		URI:         p.uri(),
		Description: "Adds the time to messages and artifacts. Provided by the gateway, which takes the time they arrive at.",
	}
}

// Request leaves the caller's message alone: its time is the caller's to say.
func (timestamp) Request(*ext.Facts, *wire.Carriers) error { return nil }

// Answer adds a time where there is none.
func (p timestamp) Answer(f *ext.Facts, doc *wire.Carriers) error {
	key := p.path + "/timestamp"
	have := holders(doc, key)
	value := []byte(`"` + f.Now.UTC().Format(time.RFC3339Nano) + `"`)
	for i := range doc.List {
		c := &doc.List[i]
		if c.Place != wire.InMessage && c.Place != wire.InArtifact || c.History || have[i] || !isNew(f, doc, i) {
			continue
		}
		doc.Set(i, key, value)
		doc.Add(i, p.uri())
	}
	return nil
}

// isNew reports whether an object was made while the call was on its way. What a
// read shows, the task that a subscription begins with, and the artifacts of a task
// that a message goes to, are older, or may be, and a wrong time is worse than none.
func isNew(f *ext.Facts, doc *wire.Carriers, i int) bool {
	sends, made := isSend(f.Method), doc.List[i].Place
	if !sends && f.Method != wire.SubscribeToTask {
		return false
	}
	for ; i >= 0; i = doc.List[i].Parent {
		if doc.List[i].Place == wire.InTask {
			return sends && (f.TaskID == "" || made == wire.InMessage)
		}
	}
	return true
}
