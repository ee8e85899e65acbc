package callcmd

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/findcard"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// place is where the agent is, as the command line says.
type place struct {
	named      string // id or URL
	gateway    string
	config     string
	configured bool // -c was given
	endpoints  []string
	ca         string
	proxy      string
}

// envGateway has the URL of the gateway where no flag has.
const envGateway = "A2A_GATEWAY_URL"

// usualGateway is where `init` has a gateway listen.
const usualGateway = "http://localhost:8080"

func (p *place) flags(f *pflag.FlagSet) {
	f.StringVar(&p.gateway, "gateway", "", "`URL` of the agent's gateway")
	f.StringVarP(&p.config, "config", "c", verb.ConfigPath(), "configuration `file` of the gateway on this machine")
	f.StringArrayVar(&p.endpoints, "endpoint", nil, "`URL` of a further origin that the card may name for calls; repeatable")
	f.StringVar(&p.ca, "ca", "", "`file` with the CAs of the server's certificate, instead of the system's")
	verb.AddProxy(f)
}

// byID reports whether the agent is named by its id at a gateway, which has neither a dot nor a
// slash nor a colon in it.
func (p *place) byID() bool { return !strings.ContainsAny(p.named, "./:") }

// base is the URL of the agent without a slash at its end. At a gateway the skill may be a part
// of it, which declares the skill in every version and binding.
func (p *place) base(skill string) (*url.URL, error) {
	if !p.byID() {
		if p.gateway != "" || p.configured {
			return nil, fmt.Errorf("%s is a URL already: leave --gateway and --config out, or give the agent's id", secret.URL(p.named))
		}
		return findcard.BaseOf(p.named)
	}
	at, err := p.gatewayURL()
	if err != nil {
		return nil, err
	}
	at = at.JoinPath("/agents", p.named)
	if skill != "" {
		at = at.JoinPath("skills", skill)
	}
	return at, nil
}

// gatewayURL is where the gateway is: as a flag or the environment says, else as its
// configuration does, else where it usually is.
func (p *place) gatewayURL() (*url.URL, error) {
	raw, from := p.gateway, "--gateway"
	if raw == "" && !p.configured {
		raw, from = os.Getenv(envGateway), "$"+envGateway
	}
	if raw == "" {
		cfg, err := config.Load(p.config)
		switch {
		case err == nil:
			return reached(cfg)
		// The usual path, which nobody has named: without a file there is no more to be said.
		case errors.Is(err, fs.ErrNotExist) && !p.configured:
			raw = usualGateway
		default:
			return nil, fmt.Errorf("%w\n--gateway URL calls without the configuration", err)
		}
	}
	u, err := secret.URL(raw).Parse()
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: must be a URL with http:// or https:// and a host", from)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}, nil
}

// reached is where the gateway of a configuration is reached from this machine. In plaintext that
// is its listener, on loopback where it listens everywhere; with TLS it is the public URL, whose
// name the certificate has.
func reached(cfg *config.Config) (*url.URL, error) {
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("server.publicURL: %w", err)
	}
	if cfg.Server.TLS != nil {
		return public, nil
	}
	host, port, err := net.SplitHostPort(cfg.Server.Address)
	if err != nil || strings.Trim(port, "0") == "" {
		return nil, errors.New("server.address leaves the port to the system: --gateway URL says where the gateway is; serve logs it")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: strings.TrimSuffix(public.Path, "/")}, nil
}

// roots are the CAs of --ca; nil for the system's.
func (p *place) roots() (*x509.CertPool, error) {
	if p.ca == "" {
		return nil, nil
	}
	text, err := os.ReadFile(p.ca)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca: %s holds no certificate in PEM", p.ca)
	}
	return pool, nil
}
