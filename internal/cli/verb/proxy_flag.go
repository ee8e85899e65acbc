package verb

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// proxyFlag is the flag that AddProxy adds: --proxy.
const proxyFlag = "proxy"

// AddProxy adds the flag that names the outbound proxy of a command without a configuration.
func AddProxy(f *pflag.FlagSet) {
	f.String(proxyFlag, "", "`URL` of the outbound HTTP proxy (default: none; the environment is ignored)")
}

// EgressOf is the proxy that addProxy's flag names.
func EgressOf(cmd *cobra.Command) (*tunnel.Proxy, error) {
	at, err := cmd.Flags().GetString(proxyFlag)
	if err != nil {
		return nil, err
	}
	c := tunnel.Config{Proxy: secret.URL(at)}
	if err := c.Validate(); err != nil {
		return nil, Usage(fmt.Errorf("--%w", err)) // it begins with "proxy"
	}
	return tunnel.New(c)
}

// Fetching is a client for a few documents.
func Fetching(egress *tunnel.Proxy) *http.Client {
	const patience = 30 * time.Second
	t := &http.Transport{DialContext: egress.Dialer(patience / 3), ForceAttemptHTTP2: true, DisableKeepAlives: true}
	return &http.Client{Transport: t, Timeout: patience}
}
