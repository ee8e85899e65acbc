package gateway

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// addresses are where the gateway is reached, by what the listener is really bound to.
type addresses struct {
	server *server.Server
}

// publicURL is cfg's, with the port that is really bound where the address leaves it open.
// It is asked for before the server knows cfg. A port of 0 in server.address leaves the
// choice to the system, as tests do: the URLs in agent cards then need the port that was
// chosen. The path of the URL has no slash at its end, so that paths can be appended to it.
func (a addresses) publicURL(cfg *config.Config) (*url.URL, error) {
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil {
		return nil, err
	}
	host := public.Host
	if _, port, _ := net.SplitHostPort(cfg.Server.Address); port == "0" {
		_, bound, _ := net.SplitHostPort(a.server.Addr().String())
		host = net.JoinHostPort(public.Hostname(), bound)
	}
	return &url.URL{Scheme: public.Scheme, Host: host, Path: strings.TrimSuffix(public.Path, "/")}, nil
}

// hosts are the hosts that requests may name beside publicURL's. On a loopback listener
// those are this machine's own names as well, so that what works in a browser bar works.
// Requests that name any other host are refused, which keeps web pages from reaching the
// gateway under a name of their own (DNS rebinding). Ports are included, as they are in
// Host.
func (a addresses) hosts(cfg *config.Config) []string {
	hosts := append([]string(nil), cfg.Server.Hosts...)
	if addr, ok := a.server.Addr().(*net.TCPAddr); ok && addr.IP.IsLoopback() {
		for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
			hosts = append(hosts, net.JoinHostPort(name, strconv.Itoa(addr.Port)))
		}
	}
	return hosts
}
