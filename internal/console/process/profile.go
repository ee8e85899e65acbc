package process

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// profiles is the path below which the runtime's profiles are, as `go tool pprof` looks
// for them. They show what the program does, never what it carries.
const profiles = "/debug/pprof/"

// ProfileScreen has the runtime's profiles, for programs.
func ProfileScreen() api.Screen {
	return api.Screen{Title: "Profiles", Operations: profileOperations()}
}

// profileOperations are a row for each. One over time takes as long as its seconds say:
// it puts off the deadline of its answer itself.
func profileOperations() []api.Operation {
	var all []api.Operation
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex", "profile", "threadcreate", "trace"} {
		handler := pprof.Handler(name)
		switch name {
		case "profile":
			handler = http.HandlerFunc(pprof.Profile)
		case "trace":
			handler = http.HandlerFunc(pprof.Trace)
		}
		all = append(all, api.Operation{
			Method: http.MethodGet, Path: profiles + name, ID: "profile-" + name, Tag: "profiles", Role: api.Operator,
			Summary: "Take the runtime profile " + name + ", for go tool pprof", Media: "application/octet-stream",
			Params: []api.Param{
				{Name: "seconds", Text: "duration of the profile", Least: 1, Most: 3600},
				{Name: "debug", Text: "format: 0 for programs, 1 and 2 for people", Most: 2},
				{Name: "gc", Text: "1 runs a garbage collection first", Most: 1},
			},
			Answer: func(*api.Call) (any, error) { return unhurried(handler), nil },
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
