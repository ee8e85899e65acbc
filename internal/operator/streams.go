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
			Binding: st.Binding.String(), Version: string(st.Version), Began: st.Began.UTC(), Events: st.Events,
		}
		// The address is missing where the request came in over something that has none, as
		// in tests and over a Unix socket.
		if st.Source.IsValid() {
			list[i].Address = st.Source.String()
		}
	}
	return list
}
