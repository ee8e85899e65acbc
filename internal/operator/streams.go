package operator

import (
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// Streams are the event streams that are open, as the console sees them.
type Streams struct{ *openstreams.Streams }

// Open implements console.Streams.
func (s Streams) Open() []console.OpenStream {
	all := s.List()
	list := make([]console.OpenStream, len(all))
	for i := range all {
		st := &all[i]
		list[i] = console.OpenStream{
			ID: st.ID, Caller: st.Principal, Issuer: st.Issuer, Agent: st.Agent, Skill: st.Skill, Method: st.Method, Task: st.Task,
			Binding: st.Binding.String(), Version: string(st.Version), Began: st.Began.UTC(), Events: st.Events,
		}
		if st.Source.IsValid() {
			list[i].Address = st.Source.String()
		}
	}
	return list
}
