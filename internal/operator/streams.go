package operator

import (
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// Streams are the event streams that are open, as the console sees them.
type Streams struct{ *openstreams.Streams }

// Open implements streams.Streams.
func (s Streams) Open() []streams.OpenStream {
	all := s.List()
	list := make([]streams.OpenStream, len(all))
	for i := range all {
		st := &all[i]
		list[i] = streams.OpenStream{
			ID: st.ID, Caller: st.Principal, Issuer: st.Issuer, Agent: st.Agent, Skill: st.Skill, Method: st.Method, Task: st.Task,
			Binding: st.Binding.String(), Version: string(st.Version), Began: st.Began.UTC(), Events: st.Events,
		}
		if st.Source.IsValid() {
			list[i].Address = st.Source.String()
		}
	}
	return list
}
