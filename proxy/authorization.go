package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// AuthorizationConfig is agents[].authorization: what becomes of a task that waits for
// authorization (A2A 1.0 §7.6). Where a credential with `on: auth-required` fits, the
// gateway answers it by itself, once; else it reaches the client with what this section
// adds.
type AuthorizationConfig struct {
	// Hosts are those that links in such a task may lead to, beside the issuers of
	// authn.oidc, with * for any labels in front ("*.example.com"). Default: any.
	Hosts []string `yaml:"hosts"`
	// Links says what becomes of a task with a link elsewhere: refuse (default; 502), or
	// report: it passes, and is recorded.
	Links string `yaml:"links"`
	// ResourceMetadata is the RFC 9728 document that says where a token for the agent's
	// system can be had. It is put into the metadata of the task's status message, under
	// TaskAuthorization. Default: nothing is put there; a token for the gateway, which
	// its own document is about, the caller has.
	ResourceMetadata string `yaml:"resourceMetadata"`
	// Message is the text of the gateway's own answer to such a task. Default:
	// "Authorization has been provided."
	Message string `yaml:"message"`
}

// TaskAuthorization is the metadata key under which the message of a task that waits for
// authorization says where it can be had: {"resource_metadata": URL} (RFC 9728).
const TaskAuthorization = "https://a2a-gateway.dev/extensions/task-authorization/v1"

const (
	reportLinks    = "report"
	maxMessage     = 1 << 10
	defaultMessage = "Authorization has been provided."
)

// Validate reports what cannot work, naming the key.
func (c AuthorizationConfig) Validate() error {
	var errs []error
	for _, h := range c.Hosts {
		name := strings.TrimPrefix(h, "*.")
		if u, err := url.Parse("https://" + name); err != nil || u.Host != name || name == "" || strings.Contains(name, "*") {
			errs = append(errs, fmt.Errorf("hosts: %q is not a host, or *. and a domain", h))
		}
	}
	if c.Links != "" && c.Links != "refuse" && c.Links != reportLinks {
		errs = append(errs, fmt.Errorf("links: %q is not one of refuse, report", c.Links))
	}
	if c.ResourceMetadata != "" {
		u, err := url.Parse(c.ResourceMetadata)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			errs = append(errs, errors.New("resourceMetadata: not an absolute http(s) URL without credentials"))
		}
	}
	if len(c.Message) > maxMessage {
		errs = append(errs, fmt.Errorf("message: longer than %d bytes", maxMessage))
	}
	return errors.Join(errs...)
}

// demand reads what a task wants to see that waits for authorization, and holds its
// links against the hosts that are permitted: an agent that has been taken over asks
// the user to log in somewhere else. That a task waits is never an authorization.
func (p *Proxy) demand(x *exchange, seen wire.Answer, doc []byte) (wire.Demand, bool, error) {
	if isError(seen) || seen.State != "TASK_STATE_AUTH_REQUIRED" && seen.State != "TASK_STATE_INPUT_REQUIRED" {
		return wire.Demand{}, false, nil
	}
	d, ok := wire.ReadDemand(doc)
	if !ok {
		return d, false, nil
	}
	if !slices.ContainsFunc(seen.Tasks, func(t wire.TaskRef) bool { return t.ID == d.Task }) {
		d.Task = "" // read in two ways: it may be somebody else's, and is not answered
	}
	elsewhere := ""
	if d.Cut && len(x.agent.Authorization.Hosts) > 0 {
		elsewhere = "more links than are looked at"
	}
	for _, link := range d.Links {
		host := hostOf(link)
		if !slices.Contains(x.rec.Demanded, host) {
			x.rec.Demanded = append(x.rec.Demanded, host)
		}
		if elsewhere == "" && !p.leads(x.agent, host) {
			elsewhere = host
		}
	}
	if elsewhere != "" && x.agent.Authorization.Links != reportLinks {
		return d, false, wire.Errorf(wire.BadAgentResponse, "the task asks for authorization at a host that is not permitted").
			Because(fmt.Errorf("a link leads to %.200q (agents[].authorization.hosts)", elsewhere))
	}
	return d, true, nil
}

// hostOf is the host of a link, lower-cased and without a port. What cannot be read is
// nobody's.
func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.User != nil { // https://good.example@evil.example
		return "?"
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// leads reports whether links to a host are permitted.
func (p *Proxy) leads(a *Agent, host string) bool {
	if len(a.Authorization.Hosts) == 0 {
		return true
	}
	for _, h := range a.Authorization.Hosts {
		h = strings.ToLower(h)
		if domain, wild := strings.CutPrefix(h, "*"); host == h || wild && strings.HasSuffix(host, domain) && len(host) > len(domain) {
			return true
		}
	}
	return slices.ContainsFunc(p.Authn.Issuers(), func(i string) bool { return hostOf(i) == host })
}

// enrich tells the client where a token can be had for a task that waits for one, if
// that is known.
func (p *Proxy) enrich(x *exchange, doc []byte) ([]byte, error) {
	where := x.agent.Authorization.ResourceMetadata
	if where == "" {
		return doc, nil
	}
	value, err := json.Marshal(map[string]string{"resource_metadata": where})
	if err != nil {
		return nil, err
	}
	cs, err := wire.ReadCarriers(x.leg.Side, x.leg.call.Method, true, doc, p.answerLimits())
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	for i, c := range cs.List {
		if c.Place == wire.InMessage && !c.History && c.Parent >= 0 && cs.List[c.Parent].Place == wire.InStatus {
			cs.Set(i, TaskAuthorization, value)
		}
	}
	return cs.Apply(), nil
}

// provides reports whether the gateway is to answer the task by itself: a credential
// for it is configured, can be had, and the task has not been answered before, by
// whatever call. From here on x shows it to the agent.
func (p *Proxy) provides(x *exchange, d *wire.Demand) bool {
	want := &upstream.Demand{Audiences: d.Audiences, Scopes: d.Scopes}
	// An agent that asks again was not satisfied, and would not be by the same.
	if d.Task == "" || x.answering != nil || !x.agent.Upstream.Answers(want) {
		return false
	}
	step, mine := answered(x, d), x.rec.RequestID
	if now, err := p.Steps.Advance(x.ctx, step, "", mine); err != nil || now != mine {
		return false
	}
	x.answering = want
	// Before the client loses sight of the question, there has to be an answer to it.
	if err := x.agent.Upstream.Authorize(x.ctx, http.Header{}, p.caller(x, x.leg)); err != nil {
		x.withdraw(p, d, err)
		return false
	}
	x.rec.Authorized, x.rec.Credentials = true, x.agent.Upstream.ShownTo(want)
	return true
}

// withdraw takes back that the gateway answers a task. The next call may try again.
func (x *exchange) withdraw(p *Proxy, d *wire.Demand, err error) {
	x.answering, x.rec.Authorized, x.rec.Cause = nil, false, err.Error()
	x.rec.Credentials = x.agent.Upstream.Shown()
	_, _ = p.Steps.Advance(x.ctx, answered(x, d), x.rec.RequestID, "") // what stays behind only keeps the gateway silent
}
