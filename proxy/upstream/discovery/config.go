package discovery

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config names the source of an agent's instances: exactly one of DNS, File and
// Kubernetes.
type Config struct {
	// DNS looks up the addresses or SRV records of a name repeatedly.
	DNS *DNS `yaml:"dns"`

	// File is a YAML or JSON list of instances: "host:port", or a mapping with address, weight
	// (default 1) and zone. The gateway rereads the file when it changes. While the file is
	// missing or wrong, the earlier instances stay.
	File string `yaml:"file" file:"read"`

	// Kubernetes watches the endpoint slices of a service through the API server.
	Kubernetes *Kubernetes `yaml:"kubernetes"`

	// EmptyAfter is how many times in a row a source must report no instance before the gateway
	// gives up the known ones. Default 2: one such answer is more often a fault of the source than
	// the truth.
	EmptyAfter int `yaml:"emptyAfter"`

	// Timeout limits one request to the source. Default 5s.
	Timeout quantity.Duration `yaml:"timeout"`

	// Limit is how many instances a source may report. More are an error, and the earlier
	// instances stay. Default 1024.
	Limit int `yaml:"limit"`

	// Answer limits the size of the file, or of one answer or event of the API server. Default
	// 8MiB.
	Answer quantity.Size `yaml:"answer"`
}

// DNS names the records to look up.
type DNS struct {
	// Name to look up. For SRV records it is the full name, such as _a2a._tcp.agents.example.
	Name string `yaml:"name"`

	// Records is "address" (A and AAAA, the default) or "srv": the gateway takes the targets with
	// the lowest priority value, with their ports and weights.
	Records string `yaml:"records"`

	// Family is "any" (default), "ipv4" or "ipv6". Choose one family if every instance has an
	// address of both, because it would count twice.
	Family string `yaml:"family"`

	// Port of the addresses. Default: that of the agent's URL.
	Port int `yaml:"port"`

	// Every is the time between two lookups, varied by up to a tenth. The gateway ignores the TTL
	// of the records. Default 15s, at least 1s.
	Every quantity.Duration `yaml:"every"`
}

// Kubernetes names a service.
type Kubernetes struct {
	// Service whose endpoint slices the gateway watches. Required.
	Service string `yaml:"service"`

	// Namespace of the service. Default: that of the pod that the gateway runs in.
	Namespace string `yaml:"namespace"`

	// Port is the name or number of the pods' port. Default: the only one there is.
	Port string `yaml:"port"`

	// Server is the URL of the API server. Default: the one of the cluster that the gateway runs
	// in. The gateway accepts http only for a proxy on this machine.
	Server secret.URL `yaml:"server"`

	// Token is a file with a bearer token, which the gateway reads for every request. Default: the
	// service account's if server is not set, else none.
	Token string `yaml:"token" file:"read"`

	// CA is a PEM file of the roots by which the gateway verifies the API server. Default: the
	// service account's if server is not set, else the system's.
	CA string `yaml:"ca" file:"read"`
}

// Options are what a source needs besides its configuration. All may be zero.
type Options struct {
	// Logger gets a line when a source begins to fail, and when it works again.
	Logger *slog.Logger
	// OnError is called with every failure, and with nil when the source works again.
	OnError func(error)
	// Resolver answers for DNS. Default: net.DefaultResolver.
	Resolver *net.Resolver
}

// What DNS.Records and DNS.Family may say, empty or not.
const (
	recordsAddress = "address"
	recordsSRV     = "srv"
	familyAny      = "any"
	family4        = "ipv4"
	family6        = "ipv6"
)

// Defaults.
const (
	defaultEmptyAfter = 2
	defaultTimeout    = 5 * time.Second
	defaultLimit      = 1024
	defaultAnswer     = 8 << 20
	defaultEvery      = 15 * time.Second
	leastEvery        = time.Second
)

// New makes the source that c names.
//
// The default values are filled in here and not in Validate, so that what an operator is shown of
// the configuration is what was written.
func New(c Config, o Options) (Source, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.EmptyAfter == 0 {
		c.EmptyAfter = defaultEmptyAfter
	}
	if c.Timeout == 0 {
		c.Timeout = quantity.Duration(defaultTimeout)
	}
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	if c.Answer == 0 {
		c.Answer = defaultAnswer
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.DNS != nil:
		return newDNS(c, o), nil
	case c.Kubernetes != nil:
		return newCluster(c, o), nil
	}
	return &file{config: c, options: o, poll: pollInterval}, nil
}

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error {
	named := 0
	for _, set := range []bool{c.DNS != nil, c.File != "", c.Kubernetes != nil} {
		if set {
			named++
		}
	}
	if named != 1 {
		return errors.New("want exactly one of dns, file and kubernetes")
	}
	switch {
	case c.EmptyAfter < 0:
		return keypath.At(errors.New("want at least 1"), "emptyAfter")
	case c.Limit < 0:
		return keypath.At(errors.New("want at least 1"), "limit")
	case c.Answer < 0:
		return keypath.At(errors.New("want more than 0"), "answer")
	case c.Timeout < 0:
		return keypath.At(errors.New("want more than 0"), "timeout")
	case c.DNS != nil:
		return c.DNS.validate()
	case c.Kubernetes != nil:
		return keypath.At(c.Kubernetes.validate(), "kubernetes")
	}
	return nil
}

// validate reports the first thing wrong, at its key.
// An address in the place of a name is refused, as it would never change: Static is for that.
// With SRV records port and family are refused instead of ignored, because the records decide
// both.
func (d *DNS) validate() error {
	name, err := parseHost(d.Name)
	if err != nil {
		return keypath.At(err, "dns", "name")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return keypath.At(errors.New("want a name, not an address"), "dns", "name")
	}
	switch d.Records {
	case "", recordsAddress:
	case recordsSRV:
		if d.Port != 0 || d.Family != "" {
			return keypath.At(errors.New("SRV records name the port and hosts, so port and family must not be set"), "dns", "records")
		}
	default:
		return keypath.At(fmt.Errorf("want %s or %s", recordsAddress, recordsSRV), "dns", "records")
	}
	switch d.Family {
	case "", familyAny, family4, family6:
	default:
		return keypath.At(fmt.Errorf("want %s, %s or %s", familyAny, family4, family6), "dns", "family")
	}
	if d.Port < 0 || d.Port > 65535 {
		return keypath.At(errors.New("want 1 to 65535"), "dns", "port")
	}
	if d.Every != 0 && d.Every.Std() < leastEvery {
		return keypath.At(fmt.Errorf("want at least %s", leastEvery), "dns", "every")
	}
	return nil
}

// label reports whether s may be the name of a service, a namespace or a port of Kubernetes (an
// RFC 1123 label), or is empty. What it lets through can stand in the path of a request.
func label(s string) bool {
	return len(s) <= 63 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// validate reports the first thing wrong, at its key.
// Plain HTTP is accepted to this machine only, as for `kubectl proxy`: the bearer token would
// travel readable over any other network.
func (k *Kubernetes) validate() error {
	switch {
	case k.Service == "" || !label(k.Service):
		return keypath.At(errors.New("want the name of a service"), "service")
	case !label(k.Namespace):
		return keypath.At(errors.New("want the name of a namespace"), "namespace")
	case k.Namespace == "" && k.Server != "":
		return keypath.At(errors.New("required beside server"), "namespace")
	case !label(k.Port):
		return keypath.At(errors.New("want the name or number of a port"), "port")
	}
	if n, err := strconv.Atoi(k.Port); err == nil && (n < 1 || n > 65535) {
		return keypath.At(errors.New("want 1 to 65535"), "port")
	}
	if k.Server == "" {
		return nil
	}
	u, err := k.Server.Parse()
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		(u.Scheme != "https" && u.Scheme != "http") {
		return keypath.At(errors.New("want an https URL"), "server")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return keypath.At(errors.New("http is for this machine (localhost, 127.0.0.1, ::1)"), "server")
	}
	return nil
}
