package proxy

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// index builds the lookup tables and refuses what is ambiguous.
//
// An agent's own rules for files are compiled only where it has some; all others share the usual
// ones. The sole agent is remembered because clients that drop the path of a URL can only mean
// that one.
func (p *Proxy) index() error {
	p.agents, p.fileRules = make(map[string]*agents.Agent, len(p.Agents)), make(map[string]*files.Rules, len(p.Agents))
	hosts := map[string]string{}
	p.self = map[string]struct{}{}
	for _, h := range append([]string{p.PublicURL.Host}, p.Hosts...) {
		if canonical, ok := hostname.Canonical(h); ok {
			p.self[canonical] = struct{}{}
		}
	}
	usual, err := files.New(files.Config{}, p.FileParts)
	if err != nil {
		return fmt.Errorf("policy.fileParts: %w", err)
	}
	for _, a := range p.Agents {
		if p.agents[a.ID] != nil {
			return fmt.Errorf("agents: id %q is used twice", a.ID)
		}
		p.agents[a.ID] = a
		rules := usual
		if !reflect.ValueOf(a.FileParts).IsZero() {
			if rules, err = files.New(a.FileParts, p.FileParts); err != nil {
				return fmt.Errorf("agents: %s: fileParts: %w", a.ID, err)
			}
		}
		p.fileRules[a.ID] = rules
		if err := a.ClaimHosts(p.PublicURL, hosts); err != nil {
			return fmt.Errorf("agents: %s: %w", a.ID, err)
		}
		for _, name := range a.Headers.Request {
			if slices.Contains(p.Authn.CredentialHeaders(), http.CanonicalHeaderKey(name)) {
				return fmt.Errorf("agents: %s: headers: %s carries credentials and cannot be listed", a.ID, name)
			}
		}
	}
	if len(p.Agents) == 1 {
		p.sole = p.Agents[0]
	}
	p.hosts = make(map[string]*agents.Agent, len(hosts))
	for host, id := range hosts {
		p.hosts[host] = p.agents[id]
	}
	p.relied = p.relies()
	return nil
}

// relies names the fields of calls that this configuration has callers identified by, or has
// agents given, in the place of somebody's who asks to have them taken off.
//
// They must not be named in Connection (RFC 9110 §7.6.1): a proxy in front would take them off,
// and with them what the call is judged by.
func (p *Proxy) relies() []string {
	names := slices.Clone(p.Authn.CredentialHeaders())
	for _, a := range p.Agents {
		names = append(names, a.Headers.Request...)
		if a.Upstream != nil {
			names = append(names, a.Upstream.Shown()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const (
	jwksPath = "/.well-known/jwks.json"
)

// newRoutes are routes that lead nowhere yet.
func newRoutes(lost record.Handler) *intake.Routes {
	return &intake.Routes{Tree: chi.NewRouter(), Lead: map[string]intake.Route{}, Rpcs: map[string]bool{}, Lost: lost}
}

// systemServices are gRPC's own: they say whether the gateway is up and what the
// protocol looks like, nothing of agents or callers, and so to anybody.
var systemServices = []string{
	"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
}
