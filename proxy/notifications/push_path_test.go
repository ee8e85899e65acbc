package notifications_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestDeliveryPathsAreNotWrittenDown: whoever has the path of a delivery can deliver, so no record
// has it, whatever becomes of the request and however the path is written.
func TestDeliveryPathsAreNotWrittenDown(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*proxytest.Setup){
		"relayed": proxytest.WithRelay,
		"off":     func(*proxytest.Setup) {},
		"below a path": func(s *proxytest.Setup) {
			proxytest.WithRelay(s)
			s.Server.PublicURL, s.Server.BasePath = "http://127.0.0.1/a2a", "/a2a"
		},
	} {
		w := proxytest.NewGateway(t, with)
		for _, start := range []string{
			"POST /push/its-secret", "PURGE /push/its-secret", "POST /push/its-%73ecret", "POST /%70ush/its-secret", "POST //push/its-secret",
			"POST /push//its-secret", "POST /a2a/push/its-secret", "POST /a2a/push/its-%73ecret", "POST /elsewhere/push/its-secret",
		} {
			got := w.Raw(w.Head(start+" HTTP/1.1", "Content-Length: 0"))
			id := got.Header.Get("X-Request-Id")
			if got.Status < 400 || id == "" {
				t.Errorf("%s: %s: %d %s %s", name, start, got.Status, id, got.Body)
				continue
			}
			proxytest.Eventually(t, "record of "+start, func() bool { return strings.Contains(w.Logs.String(), id) })
		}
		for line := range strings.Lines(w.Logs.String()) {
			if strings.Contains(line, "secret") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	w := proxytest.NewGateway(t)
	id := w.Do("alice", "GET", w.URL+"/agents/push/tasks/plain", "").Header.Get("X-Request-Id")
	proxytest.Eventually(t, "path of an agent of that name", func() bool {
		logs := w.Logs.String()
		return strings.Contains(logs, id) && strings.Contains(logs, "/agents/push/tasks/plain")
	})
}
