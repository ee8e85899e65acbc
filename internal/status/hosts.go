package status

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// hosted lets requests pass that name a host which is the status listener's. A page in
// somebody's browser can have its own name lead here (DNS rebinding), and would read health,
// metrics and names of agents as if they were its own; it can name no address, and no name of
// the gateway's.
func (s *Server) hosted(next http.Handler) http.Handler {
	own, _ := os.Hostname()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !served(r.Host, own, s.Config()) {
			http.Error(w, "this host is not served here; server.statusHosts lists others", http.StatusMisdirectedRequest)
			return
		}
		if r.Method == http.MethodOptions && r.RequestURI == "*" {
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// served reports whether the status listener answers to a Host, own being the machine's name.
// Browsers always send one; some probes speak HTTP/1.0 and do not.
func served(host, own string, c *server.Config) bool {
	if host == "" {
		return true
	}
	asked, ok := hostname.Canonical(host)
	if !ok {
		return false
	}
	name := withoutPort(asked)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	for _, known := range []string{"localhost", own, hostOf(c.StatusAddress)} {
		if canonical, ok := hostname.Canonical(known); ok && canonical == name {
			return true
		}
	}
	mine := func(known string) bool {
		canonical, ok := hostname.Canonical(known)
		return ok && withoutPort(canonical) == name
	}
	if public, err := url.Parse(c.PublicURL); err == nil && mine(public.Host) {
		return true
	}
	listed := func(known string) bool {
		canonical, ok := hostname.Canonical(known)
		return ok && (canonical == asked || canonical == name)
	}
	return slices.ContainsFunc(c.Hosts, mine) || slices.ContainsFunc(c.StatusHosts, func(known string) bool {
		// Behind the machine's name it is one of a Kubernetes headless service's, which has a
		// name for each pod.
		return listed(known) || own != "" && listed(own+"."+known)
	})
}

// hostOf is the host of host:port.
func hostOf(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}

// withoutPort cuts the port off a canonical host.
func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i]
	}
	return host
}
