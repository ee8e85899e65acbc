package discovery

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config says where an agent's instances are found. What several sources find counts
// together. Without any, the agent is one instance: the address its card names.
//
// An instance is a host or a host and a port. Calls keep the URL, the Host header and
// the TLS name of the card's interface, and are dialled to the instance; without a
// port, at the interface's own. Whoever writes this file, or answers for the names in
// it, decides where calls go, so these addresses are not held to the card's origin.
type Config struct {
	// Static lists instances: 10.0.0.7, 10.0.0.7:9001, [fd00::7]:9001, node-7.
	Static []string `yaml:"static"`

	// DNS asks for a name now and then.
	DNS *DNS `yaml:"dns"`

	// Kubernetes follows the ready endpoints of a service.
	Kubernetes *Kubernetes `yaml:"kubernetes"`

	// File is a YAML or JSON list of instances, read again when it changes.
	File string `yaml:"file"`
}

// DNS is a name whose addresses are instances.
type DNS struct {
	// Name that is asked for.
	Name string `yaml:"name"`
	// Type is A (default; AAAA as well) or SRV, which says the ports too.
	Type string `yaml:"type"`
	// Port of all of them, with A. Default: the interface's own.
	Port int `yaml:"port"`
	// Every is how often the name is asked for. Default 10s.
	Every secret.Duration `yaml:"every"`
}

// Kubernetes is a service whose endpoints (EndpointSlices) are instances.
type Kubernetes struct {
	// Namespace of the service. Default: the gateway's own.
	Namespace string `yaml:"namespace"`
	// Service is its name.
	Service string `yaml:"service"`
	// Port is the name or the number of the endpoints' port. Default: their only one.
	Port string `yaml:"port"`
	// API is the API server's URL. Default: as pods are told.
	API string `yaml:"api"`
	// TokenFile has the service account's token. Default: where pods have it. It is
	// read again when it changes.
	TokenFile string `yaml:"tokenFile"`
	// CA is a PEM file of the API server's roots. Default: where pods have it.
	CA string `yaml:"ca"`
}

// Any reports whether c names a source.
func (c Config) Any() bool {
	return len(c.Static) > 0 || c.DNS != nil || c.Kubernetes != nil || c.File != ""
}

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error {
	for i, text := range c.Static {
		if _, err := Canonical(text); err != nil {
			return fmt.Errorf("instances.static[%d]: %w", i, err)
		}
	}
	if d := c.DNS; d != nil {
		switch {
		case d.Name == "":
			return errors.New("instances.dns.name: is required")
		case d.Type != "" && d.Type != "A" && d.Type != "SRV":
			return fmt.Errorf("instances.dns.type: %q is neither A nor SRV", d.Type)
		case d.Port < 0 || d.Port > 65535:
			return fmt.Errorf("instances.dns.port: %d is no port", d.Port)
		case d.Type == "SRV" && d.Port != 0:
			return errors.New("instances.dns.port: SRV records have their own")
		}
	}
	if k := c.Kubernetes; k != nil && k.Service == "" {
		return errors.New("instances.kubernetes.service: is required")
	}
	return nil
}

// Canonical is one spelling for an instance, the one by which it is known in
// records: lower case, an IPv6 address in brackets, a port without leading zeros.
// Two spellings of one address would be two instances, with half a memory each.
func Canonical(text string) (string, error) {
	host, port := text, ""
	if a, err := netip.ParseAddr(text); err == nil {
		host = a.String()
	} else if h, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return "", fmt.Errorf("%q: %q is no port", text, p)
		}
		host, port = h, strconv.FormatUint(n, 10)
	} else if inner, ok := strings.CutPrefix(text, "["); ok {
		host = strings.TrimSuffix(inner, "]")
		if _, err := netip.ParseAddr(host); err != nil {
			return "", fmt.Errorf("%q is not a host or host:port", text)
		}
	}
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	} else if !isName(host) {
		return "", fmt.Errorf("%q is not a host or host:port", text)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" {
		return host, nil
	}
	return host + ":" + port, nil
}

// isName reports whether a text can be a host's name. Underscores are in use.
func isName(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return false
		}
	}
	return true
}
