package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"strings"
)

// Backends names the backends of agents, for ledger.Config.Backend: agents whose cards name
// the same interfaces lead to one, which knows nothing of what they are called here. The name
// is "" of an agent whose card is not known yet.
func Backends(agents []*Agent) func(string) string {
	byID := make(map[string]*Agent, len(agents))
	for _, a := range agents {
		byID[a.ID] = a
	}
	return func(id string) string {
		a := byID[id]
		if a == nil {
			return ""
		}
		v := a.Look()
		if v == nil {
			return ""
		}
		return v.backend
	}
}

// backendOf names the backend that has these interfaces, by the first of them in the order of
// their URLs, so that the order of a card does not matter. Ids of agents have no colon. Each
// tenant of a URL is a backend by itself: what two of them call a context may be the same.
func backendOf(endpoints []Endpoint) string {
	first := ""
	for i := range endpoints {
		u := plainURL(endpoints[i].URL)
		if tenant := endpoints[i].Tenant; tenant != "" {
			u += " " + tenant // no URL has a space
		}
		if first == "" || u < first {
			first = u
		}
	}
	if first == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(first))
	return "backend:" + hex.EncodeToString(sum[:16])
}

// plainURL is one spelling of a URL's scheme, host, port and path.
func plainURL(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		if port = "80"; scheme == "https" {
			port = "443"
		}
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port) + strings.TrimSuffix(u.EscapedPath(), "/")
}
