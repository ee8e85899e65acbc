package proxy_test

import (
	"strings"
	"testing"
)

// TestDeliveryPathsAreNotWrittenDown: whoever has the path of a delivery can deliver, so no record
// has it, whatever becomes of the request and however the path is written.
func TestDeliveryPathsAreNotWrittenDown(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*setup){
		"relayed": relayed,
		"off":     func(*setup) {},
		"below a path": func(s *setup) {
			relayed(s)
			s.server.PublicURL, s.server.BasePath = "http://127.0.0.1/a2a", "/a2a"
		},
	} {
		w := build(t, with)
		for _, start := range []string{
			"POST /push/its-secret", "PURGE /push/its-secret", "POST /push/its-%73ecret", "POST /%70ush/its-secret", "POST //push/its-secret",
			"POST /push//its-secret", "POST /a2a/push/its-secret", "POST /a2a/push/its-%73ecret", "POST /elsewhere/push/its-secret",
		} {
			got := w.raw(w.head(start+" HTTP/1.1", "Content-Length: 0"))
			id := got.header.Get("X-Request-Id")
			if got.status < 400 || id == "" {
				t.Errorf("%s: %s: %d %s %s", name, start, got.status, id, got.body)
				continue
			}
			eventually(t, "record of "+start, func() bool { return strings.Contains(w.logs.String(), id) })
		}
		for line := range strings.Lines(w.logs.String()) {
			if strings.Contains(line, "secret") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	w := build(t)
	id := w.do("alice", "GET", w.url+"/agents/push/tasks/plain", "").header.Get("X-Request-Id")
	eventually(t, "path of an agent of that name", func() bool {
		logs := w.logs.String()
		return strings.Contains(logs, id) && strings.Contains(logs, "/agents/push/tasks/plain")
	})
}
