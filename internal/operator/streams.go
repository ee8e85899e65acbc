package operator

import (
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// Streams are the event streams that are open, as the console sees them.
type Streams struct{ *openstreams.Streams }

// Open implements streams.Streams. The list is a copy: a stream in it may have ended by the
// time that it is shown. To end one, the embedded Streams are asked by its id.
func (s Streams) Open() []streams.OpenStream {
	all := s.List()
	list := make([]streams.OpenStream, len(all))
	for i := range all {
		st := &all[i]
		list[i] = streams.OpenStream{
			ID: st.ID, Caller: st.Principal, Issuer: st.Issuer, Agent: st.Agent, Skill: st.Skill, Method: st.Method, Task: st.Task,
			Binding: st.Binding.String(), Version: string(st.Version), Began: st.Began.UTC(), Events: st.Events, Captured: st.Captured,
		}
		// The address is missing where the request came in over something that has none, as
		// in tests and over a Unix socket.
		if st.Source.IsValid() {
			list[i].Address = st.Source.String()
		}
	}
	return list
}

// Follow implements streams.Streams.
func (s Streams) Follow(id string, room int, content bool) streams.Watcher {
	if w := s.Streams.Follow(id, room, content); w != nil {
		return watcher{w}
	}
	return nil
}

// watcher is somebody who watches a stream, as the console sees them.
type watcher struct{ *openstreams.Watcher }

// Take implements streams.Watcher.
func (w watcher) Take() (dropped int, events []streams.Event, end string) {
	dropped, all, end := w.Watcher.Take()
	events = make([]streams.Event, len(all))
	for i := range all {
		events[i] = streams.Event(all[i])
	}
	return dropped, events, end
}
