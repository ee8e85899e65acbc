package console

import (
	"net/http"
	"net/http/pprof"
	"time"
)

// profiles is the path below which the runtime's profiles are, as `go tool pprof` looks
// for them. They show what the program does, never what it carries.
const profiles = "/debug/pprof/"

// profileOperations are a row for each. One over time takes as long as its seconds say:
// it puts off the deadline of its answer itself.
func profileOperations() []operation {
	var all []operation
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex", "profile", "threadcreate", "trace"} {
		handler := pprof.Handler(name)
		switch name {
		case "profile":
			handler = http.HandlerFunc(pprof.Profile)
		case "trace":
			handler = http.HandlerFunc(pprof.Trace)
		}
		all = append(all, operation{
			method: http.MethodGet, path: profiles + name, id: "profile-" + name, tag: "profiles", role: Operator,
			summary: "The runtime's profile " + name + ", for go tool pprof", media: "application/octet-stream",
			params: []param{
				{name: "seconds", text: "how long it is taken", least: 1, most: 3600},
				{name: "debug", text: "how it is written: 0 for programs, 1 and 2 for people", most: 2},
				{name: "gc", text: "1 for a collection of garbage before", most: 1},
			},
			answer: func(*Console, *call) (any, error) { return reply{handler: unhurried(handler)}, nil },
		})
	}
	return all
}

// unhurried is a handler whose request does not end with the time that it may take to come:
// net/http goes on to read, and takes the deadline for the client's leaving.
func unhurried(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a recorder has none
		h.ServeHTTP(w, r)
	})
}
