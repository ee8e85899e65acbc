package console

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// profiles is the path below which the runtime's profiles are, as `go tool pprof` looks
// for them. They show what the program does, never what it carries.
const profiles = "/debug/pprof/"

// profile is the handler of a profile, nil where the path leads to none. One over time
// takes as long as its seconds say: it puts off the deadline of its answer itself.
func profile(r *http.Request) http.Handler {
	name, below := strings.CutPrefix(r.URL.Path, profiles)
	if !below || r.Method != http.MethodGet {
		return nil
	}
	switch name {
	case "profile":
		return http.HandlerFunc(pprof.Profile)
	case "trace":
		return http.HandlerFunc(pprof.Trace)
	case "allocs", "block", "goroutine", "heap", "mutex", "threadcreate":
		return pprof.Handler(name)
	}
	return nil
}
