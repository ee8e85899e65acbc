package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// services are the services of Kubernetes that are agents. There is a watch for each entry
// of fleet.kubernetes. Slices are by the number of the watch.
type services struct {
	changed chan struct{} // has room for one: that something is to be rebuilt
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu     sync.Mutex
	found  [][]enlistedService // by watch
	last   map[string]agents.Config
	unfit  []map[string]error // by watch and id
	away   []error            // by watch
	served map[string]string  // what has been put on record, by id
}

// enlistedService is a service with the agent that was made of it.
type enlistedService struct {
	source string // namespace/name
	agent  agents.Config
}

// Annotations of a service that is an agent.
// Only services with the label that the watch selects get here; annotations are all
// optional, and say how the agent differs from what is usual: its id is the name of the
// service, its port the only one, its card at the well-known path of A2A (section 8.2).
const (
	annotationID         = "a2a-gateway.dev/id"
	annotationPort       = "a2a-gateway.dev/port"
	annotationScheme     = "a2a-gateway.dev/scheme"
	annotationCard       = "a2a-gateway.dev/card-path"
	annotationVisibility = "a2a-gateway.dev/visibility"
	annotationSkills     = "a2a-gateway.dev/skills"
	usualCard            = "/.well-known/agent-card.json"
)

// openServices begins to follow services, and gives the API server a moment to answer. It
// waits for the first answer of each watch or snapshot.FirstAnswer, whichever is sooner:
// with an API server that is away, the gateway still starts.
func openServices(ctx context.Context, sources []discovery.Services, log *slog.Logger) *services {
	s := &services{
		changed: make(chan struct{}, 1), found: make([][]enlistedService, len(sources)), away: make([]error, len(sources)),
		last: map[string]agents.Config{}, unfit: make([]map[string]error, len(sources)), served: map[string]string{},
	}
	var running context.Context
	running, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan struct{}, 2*len(sources))
	for i := range sources {
		w := discovery.NewServiceWatch(sources[i], log, func(err error) {
			s.failed(i, err)
			if err != nil {
				tell(first)
			}
		})
		s.done.Go(func() {
			w.Run(running, func(list []discovery.Service) {
				s.take(i, list)
				tell(first)
			})
		})
	}
	// What has not answered by then is waited for in the background.
	patience := time.NewTimer(snapshot.FirstAnswer)
	defer patience.Stop()
	for range sources {
		select {
		case <-first:
		case <-patience.C:
			return s
		case <-ctx.Done():
			return s
		}
	}
	return s
}

// tell leaves word where there is room for it. The channel has room for one, so that
// several words in a row are one.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// failed notes how a watch is doing: nil for well.
func (s *services) failed(i int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[i] = err
}

// err is why services cannot be found out at the moment. Errors of several watches are
// joined.
func (s *services) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.away...)
}

// take reads what one watch has found. A service that has become wrong stays the agent that
// it was. Otherwise a typing error in an annotation would take an agent away from callers.
// A rebuild is asked for only where something differs or is wrong, as watches repeat what
// they have found.
func (s *services) take(i int, list []discovery.Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.found[i]
	known := maps.Clone(s.last)
	for _, one := range before {
		delete(s.last, one.source)
	}
	s.found[i], s.unfit[i] = nil, map[string]error{}
	for n := range list {
		source := list[n].Namespace + "/" + list[n].Name
		// The id is there with an error too, so that the fault can be shown by it.
		agent, err := agentOf(&list[n])
		if err == nil {
			err = agent.Validate()
		}
		if err != nil {
			s.unfit[i][agent.ID] = fmt.Errorf("service %s: %w", source, err)
			var ok bool
			if agent, ok = known[source]; !ok {
				continue
			}
		}
		s.last[source] = agent
		s.found[i] = append(s.found[i], enlistedService{source, agent})
	}
	// Faults are told each time, since the registry finds out itself which of them are
	// news.
	if !reflect.DeepEqual(before, s.found[i]) || len(s.unfit[i]) > 0 {
		tell(s.changed)
	}
}

// agents are those that were found, and what is wrong with others, by id. A service that
// has become wrong is in both: as the agent that it was, and with what is wrong now.
func (s *services) agents() ([]config.Enlisted, map[string]error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []config.Enlisted
	for _, found := range s.found {
		for _, one := range found {
			list = append(list, config.Enlisted{Origin: "service " + one.source, Agent: one.agent})
		}
	}
	unfit := map[string]error{}
	for _, one := range s.unfit {
		maps.Copy(unfit, one)
	}
	return list, unfit
}

// source is the service that an agent is, as namespace/name; "" for none. Of a few hundred
// services it is found by looking at all of them.
func (s *services) source(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, found := range s.found {
		for _, one := range found {
			if one.agent.ID == id {
				return one.source
			}
		}
	}
	return ""
}

// move notes which services are agents in force, by id, and returns those before. A service
// counts as in force where the agent of its id has its card's address: the id may be taken
// by an agent of the file.
func (s *services) move(in *snapshot.Snapshot) (before, now map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = map[string]string{}
	for _, found := range s.found {
		for _, one := range found {
			if m := in.Agents[one.agent.ID]; m != nil && m.Config.Card.URL == one.agent.Card.URL {
				now[one.agent.ID] = one.source
			}
		}
	}
	before, s.served = s.served, now
	return before, now
}

// agentOf is a service as an agent. Its id is there also with an error. What it says is not
// trusted more than a file: the result is validated by the caller. The host is the
// cluster's address of the service, so that Kubernetes balances between its pods.
func agentOf(s *discovery.Service) (agents.Config, error) {
	of := func(name, otherwise string) string {
		if text := strings.TrimSpace(s.Annotations[name]); text != "" {
			return text
		}
		return otherwise
	}
	a := agents.Config{ID: of(annotationID, s.Name)}
	port, err := portOf(s, of(annotationPort, ""))
	if err != nil {
		return a, err
	}
	if s.Host == "" || s.Host == "None" {
		return a, errors.New("it has no address (clusterIP)")
	}
	scheme, path := of(annotationScheme, "http"), of(annotationCard, usualCard)
	if scheme != "http" && scheme != "https" {
		return a, fmt.Errorf("%s: %q is neither http nor https", annotationScheme, scheme)
	}
	// The path goes into a URL behind a host: "//evil.example" or a query would change what
	// the URL means.
	u, err := url.ParseRequestURI(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || u.Host != "" || u.RawQuery != "" {
		return a, fmt.Errorf("%s: %q is not a path", annotationCard, path)
	}
	a.Card.URL = secret.URL((&url.URL{Scheme: scheme, Host: net.JoinHostPort(s.Host, strconv.Itoa(port)), Path: u.Path, RawPath: u.RawPath}).String())
	a.Card.Visibility = card.Visibility(of(annotationVisibility, ""))
	for _, id := range strings.Split(of(annotationSkills, ""), ",") {
		if id = strings.TrimSpace(id); id != "" {
			a.Skills = append(a.Skills, agents.SkillConfig{ID: id})
		}
	}
	return a, nil
}

// portOf is the port of a name or number, or the only one. wanted is "" where no annotation
// says which; then there has to be exactly one.
func portOf(s *discovery.Service, wanted string) (int, error) {
	if wanted == "" && len(s.Ports) != 1 {
		return 0, fmt.Errorf("it has %d TCP ports; %s must say which", len(s.Ports), annotationPort)
	}
	for _, p := range s.Ports {
		if wanted == "" || wanted == p.Name || wanted == strconv.Itoa(p.Number) {
			return p.Number, nil
		}
	}
	return 0, fmt.Errorf("%s: it has no TCP port %q", annotationPort, wanted)
}
