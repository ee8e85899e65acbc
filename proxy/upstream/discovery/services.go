package discovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Services says which services of one Kubernetes namespace are agents.
type Services struct {
	// Selector of the labels that make a service an agent. Default: "a2a-gateway.dev/agent=true".
	Selector string `yaml:"selector"`

	// Namespace of the services. Default: that of the pod that the gateway runs in.
	Namespace string `yaml:"namespace"`

	// Address says how the gateway calls services: by name (default; NAME.NAMESPACE.DOMAIN), or by
	// clusterIP, for gateways that do not use the cluster's DNS.
	Address string `yaml:"address"`

	// Domain in which the services have their DNS names. Default: "svc".
	Domain string `yaml:"domain"`

	// Server is the URL of the API server. Default: the one of the cluster that the gateway runs
	// in. The gateway accepts http only for a proxy on this machine.
	Server secret.URL `yaml:"server"`

	// Token is a file with a bearer token, which the gateway reads for every request. Default: the
	// service account's if server is not set, else none.
	Token string `yaml:"token" file:"read"`

	// CA is a PEM file of the roots by which the gateway verifies the API server. Default: the
	// service account's if server is not set, else the system's.
	CA string `yaml:"ca" file:"read"`

	// Timeout limits one request to the API server. Default 5s.
	Timeout quantity.Duration `yaml:"timeout"`

	// Limit is how many services the gateway accepts. More are an error, and the services found
	// before stay. Default 1024.
	Limit int `yaml:"limit"`

	// Answer limits the size of one answer or event of the API server. Default 8MiB.
	Answer quantity.Size `yaml:"answer"`
}

// How services may be called, in Services.Address.
const (
	byName      = "name"
	byClusterIP = "clusterIP"
)

// Validate reports what cannot work, naming the key.
func (s Services) Validate() error {
	k := Kubernetes{Service: "any", Namespace: s.Namespace, Server: s.Server}
	if err := k.validate(); err != nil {
		return err
	}
	switch {
	case s.Address != "" && s.Address != byName && s.Address != byClusterIP:
		return keypath.At(fmt.Errorf("want %s or %s", byName, byClusterIP), "address")
	case strings.ContainsAny(s.Selector, " \t\r\n&"):
		return keypath.At(errors.New("want labels, as in app=billing,tier=agents"), "selector")
	case s.Timeout < 0:
		return keypath.At(errors.New("want more than 0"), "timeout")
	case s.Limit < 0:
		return keypath.At(errors.New("want at least 1"), "limit")
	case s.Answer < 0:
		return keypath.At(errors.New("want more than 0"), "answer")
	}
	if s.Domain != "" {
		if _, err := parseHost(s.Domain); err != nil {
			return keypath.At(err, "domain")
		}
	}
	return nil
}

// Service is a service that was found.
type Service struct {
	Namespace   string
	Name        string
	Created     time.Time
	Annotations map[string]string
	Host        string // that it is called by
	Ports       []ServicePort
}

// ServicePort is a TCP port of a service.
type ServicePort struct {
	Name   string
	Number int
}

// service is the part that matters of v1 Service.
type service struct {
	Metadata struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		ResourceVersion string            `json:"resourceVersion"`
		Created         time.Time         `json:"creationTimestamp"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		ClusterIP string `json:"clusterIP"`
		Ports     []struct {
			Name     string `json:"name"`
			Port     int    `json:"port"`
			Protocol string `json:"protocol"`
		} `json:"ports"`
	} `json:"spec"`
}

// ServiceWatch follows services: it lists them, and is told from there on what becomes of
// them. Whatever goes wrong, what was found before holds, and it begins with a list again.
//
// It finds agents, where a Source finds the instances of one agent that is known. There is no
// doubt about empty answers here: an agent that is not found any more is kept by its caller
// (internal/fleet), which asks before it takes one away.
type ServiceWatch struct {
	config  Services
	log     *slog.Logger
	onError func(error)
	server  apiServer
	pause   time.Duration
	watches time.Duration

	found   map[string]service // by name
	failing bool
}

// NewServiceWatch makes one of a valid configuration. onError is called with every failure,
// and with nil when it works again.
func NewServiceWatch(c Services, log *slog.Logger, onError func(error)) *ServiceWatch {
	if c.Selector == "" {
		c.Selector = "a2a-gateway.dev/agent=true"
	}
	if c.Domain == "" {
		c.Domain = "svc"
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
	return &ServiceWatch{
		config: c, log: log.With("source", "kubernetes services "+c.Selector), onError: onError,
		pause: firstPause, watches: watchTime,
		server: apiServer{
			config: Kubernetes{Namespace: c.Namespace, Server: c.Server, Token: c.Token, CA: c.CA},
			limit:  int64(c.Answer), timeout: c.Timeout.Std(), account: serviceAccount,
			group: "/api/v1", resource: "services", selector: c.Selector,
		},
	}
}

// Run calls found with all services, in the order in which they were made, whenever they
// have changed, until ctx ends.
//
// The oldest service comes first, so that of two that claim one agent id the newcomer is the one
// refused.
func (w *ServiceWatch) Run(ctx context.Context, found func([]Service)) {
	defer w.server.close()
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := w.follow(ctx, found)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > mostPause {
			failures = 0
		}
		if err != nil && !errors.Is(err, errGone) {
			failures++
			w.failed(err)
		}
		if !wait(ctx, backOff(w.pause, mostPause, failures)) {
			return
		}
	}
}

// failed says so at the first failure in a row.
func (w *ServiceWatch) failed(err error) {
	if !w.failing {
		w.log.Warn("which services are agents cannot be found out; those of before stay", "services", len(w.found), "err", err)
	}
	w.failing = true
	w.onError(err)
}

// worked ends a failure, and tells onError nil after each list that went well.
func (w *ServiceWatch) worked() {
	if w.failing {
		w.log.Info("which services are agents is found out again", "services", len(w.found))
	}
	w.failing = false
	w.onError(nil)
}

// follow lists and watches until the list has to be fetched anew.
func (w *ServiceWatch) follow(ctx context.Context, found func([]Service)) error {
	version, err := w.list(ctx)
	if err != nil {
		return err
	}
	w.worked()
	found(w.all())
	for {
		if err := w.watch(ctx, found, &version); err != nil {
			return fmt.Errorf("watch services: %w", err)
		}
		if !wait(ctx, w.pause) {
			return nil
		}
	}
}

// list fetches all services, page by page, and the version they are of.
func (w *ServiceWatch) list(ctx context.Context) (version string, err error) {
	all, next := map[string]service{}, ""
	for {
		got, err := listPage[service](ctx, &w.server, next)
		if err != nil {
			return "", fmt.Errorf("list services: %w", err)
		}
		for _, s := range got.Items {
			all[s.Metadata.Name] = s
		}
		if err := w.bounded(all); err != nil {
			return "", err
		}
		if next = got.Metadata.Continue; next == "" {
			w.found = all
			return got.Metadata.ResourceVersion, nil
		}
		if len(got.Items) == 0 {
			return "", errors.New("list services: an empty page that is not the last one")
		}
	}
}

// bounded is the error of more services than limit. Who may label services in the namespace could
// otherwise make the gateway fetch any number of cards.
func (w *ServiceWatch) bounded(all map[string]service) error {
	if len(all) > w.config.Limit {
		return fmt.Errorf("%d services are more than limit (%d)", len(all), w.config.Limit)
	}
	return nil
}

// watch is told of changes since the version, and moves it on.
func (w *ServiceWatch) watch(ctx context.Context, found func([]Service), version *string) error {
	ctx, cancel := context.WithTimeout(ctx, w.watches+w.server.timeout)
	defer cancel()
	feed, err := w.server.watch(ctx, *version, w.watches)
	if err != nil {
		return err
	}
	defer feed.close()
	for feed.next() {
		e, err := readEvent[service](feed.line())
		if err != nil {
			return err
		}
		changed, err := w.apply(e)
		if err != nil {
			return err
		}
		*version = e.object.Metadata.ResourceVersion
		if changed {
			found(w.all())
		}
	}
	return feed.err()
}

// apply changes the services by one event.
//
// changed is false for bookmarks, which bring a version and nothing else.
func (w *ServiceWatch) apply(e event[service]) (changed bool, err error) {
	name := e.object.Metadata.Name
	switch {
	case e.object.Metadata.ResourceVersion == "":
		return false, errors.New("an event without a version")
	case e.kind == bookmark:
		return false, nil
	case name == "":
		return false, errors.New("an event about a service without a name")
	case e.kind == deleted:
		delete(w.found, name)
	default:
		w.found[name] = e.object
	}
	return true, w.bounded(w.found)
}

// all are the services, the oldest first: a new one takes nothing away from it.
func (w *ServiceWatch) all() []Service {
	list := make([]Service, 0, len(w.found))
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		s := w.found[name]
		one := Service{
			Namespace: s.Metadata.Namespace, Name: name, Created: s.Metadata.Created, Annotations: s.Metadata.Annotations,
			Host: name + "." + s.Metadata.Namespace + "." + w.config.Domain,
		}
		if w.config.Address == byClusterIP {
			one.Host = s.Spec.ClusterIP
		}
		for _, p := range s.Spec.Ports {
			if p.Protocol == "" || p.Protocol == "TCP" {
				one.Ports = append(one.Ports, ServicePort{p.Name, p.Port})
			}
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b Service) int { return a.Created.Compare(b.Created) })
	return list
}
