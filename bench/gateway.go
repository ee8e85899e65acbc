package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// timing is the extension that agents and gateway know, and that calls ask for.
const timing = "https://bench.example/extensions/timing/v1"

// The gateway with everything on: verified tokens, 100 rules, ownership, an
// extension, audit log, metrics, traces of which one in a hundred is sent.
var (
	gateway = subject{
		name: "gateway", strict: true, what: "the gateway, everything on",
		path: "/agents/billing", tenant: "rpc", start: startGateway("durability: write", "driver: memory"),
	}
	gatewaySync = subject{
		name: "gateway-sync", strict: true, what: "the same; audit records are on the disk before they count",
		workloads: []string{"unary"},
		path:      "/agents/billing", start: startGateway("durability: sync", "driver: memory"),
	}
	gatewaySQLite = subject{
		name: "gateway-sqlite", strict: true, what: "the same with state in SQLite, and every call makes a task there",
		workloads: []string{"unary", "unary-one"}, task: true,
		path: "/agents/billing", start: startGateway("durability: write", "driver: sqlite"),
	}
	gatewayGuards = subject{
		name: "gateway-guards", strict: true, what: "the same with guards for secrets and personal data in requests and answers",
		workloads: []string{"guards"}, path: "/agents/billing", start: startGuardedGateway,
	}
	gateway03 = subject{
		name: "gateway-0.3-to-1.0", strict: true, what: "calls in A2A 0.3 of an agent that speaks 1.0",
		workloads: []string{"translation"}, version: "0.3", like: "gateway", path: "/agents/billing",
	}
	gateway10 = subject{
		name: "gateway-1.0-to-0.3", strict: true, what: "calls in A2A 1.0 of an agent that speaks 0.3",
		workloads: []string{"translation"}, like: "gateway", path: "/agents/legacy",
	}
)

func startGuardedGateway(st *stage, how setup) (*running, error) {
	return st.serve(gatewaySettings{
		setup: how, audit: "durability: write", state: "driver: memory", rules: usualRules(99), guards: []string{"secrets", "pii"},
	})
}

func startGateway(audit, state string) func(*stage, setup) (*running, error) {
	return func(st *stage, how setup) (*running, error) {
		return st.serve(gatewaySettings{setup: how, audit: audit, state: state, rules: usualRules(99)})
	}
}

// serve starts the gateway with a configuration, of which it fills in what is the same
// for all.
func (st *stage) serve(s gatewaySettings) (*running, error) {
	binary, err := st.gatewayBinary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(st.dir, "gateway-")
	if err != nil {
		return nil, err
	}
	s.dir, s.cert, s.key, s.issuer = dir, st.file("cert.pem"), st.file("key.pem"), st.issuer.URL
	s.agent, s.agentRPC = "http://"+st.agent, st.agentRPC
	path, err := st.write("config.yaml", gatewayConfig(s))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "serve", "-c", path)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+st.traces, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	began := time.Now()
	p, err := st.spawn(cmd)
	if err != nil {
		return nil, err
	}
	line, err := p.find(func(line string) string {
		if servingAt(line) == "" {
			return ""
		}
		return line
	})
	if err != nil {
		return nil, err
	}
	return &running{
		url: servingAt(line), status: logged(line, "status_url"), began: began, pid: p.cmd.Process.Pid,
		version: st.gatewayVersion(binary), dataDir: dir, stop: p.stop,
	}, nil
}

// gatewayBinary is the one that was given, or one that is built, as it is released but for what
// profiles need.
func (st *stage) gatewayBinary() (string, error) {
	if st.options.gateway != "" {
		return st.options.gateway, nil
	}
	module, err := root()
	if err != nil {
		return "", err
	}
	return st.build("a2a-gateway", module, "./cmd/a2a-gateway", "-tags", "grpcnotrace")
}

// servingAt is the URL in the log line that says where the gateway serves.
func servingAt(line string) string { return logged(line, "url") }

// logged is a value in a log line, as JSON or as text; "" for none.
func logged(line, key string) string {
	for _, mark := range []string{`"` + key + `":"`, key + "="} {
		if _, rest, ok := strings.Cut(line, mark); ok {
			return rest[:strings.IndexAny(rest+" ", "\" ")]
		}
	}
	return ""
}

// gatewayVersion is what the binary says, and of a build between releases the
// commit.
func (st *stage) gatewayVersion(binary string) string {
	said, err := exec.CommandContext(st.ctx, binary, "version").Output()
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return version
}

type gatewaySettings struct {
	setup
	dir, cert, key, issuer, agent string
	agentRPC                      string // address
	audit, state                  string
	agents                        int      // so many of one kind; 0 for billing, legacy and rpc
	rules                         []string // beside the one that lets the calls pass
	keys                          string   // file of API keys; "" for none
	guards                        []string // of these uses
}

func gatewayConfig(s gatewaySettings) string {
	var b strings.Builder
	tls, keys := "", ""
	if !s.plain {
		tls = fmt.Sprintf("tls: {certificates: [{cert: %q, key: %q}]}", s.cert, s.key)
	}
	if s.keys != "" {
		keys = fmt.Sprintf("apiKeys: {file: %q}", s.keys)
	}
	_, _ = fmt.Fprintf(&b, `server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "%s://127.0.0.1:8443"
  dataDir: %q
  limits: {connections: %[4]d, connectionsPerIP: %[4]d, streams: %[4]d, requests: %[4]d, connectionStreams: 1000}
  %[3]s
`, s.scheme(), s.dir, tls, many)
	_, _ = fmt.Fprintf(&b, `authn:
  oidc: [{issuer: %q, audiences: [a2a-gateway]}]
  %s
extensions:
  - {uri: %q, kind: data}
streams: {perPrincipal: 0}
telemetry:
  traces: {sampleRatio: 0.01}
  audit: {%s}
state: {%s}
agents:
`, s.issuer, keys, timing, s.audit, s.state)
	s.fleet(&b)
	b.WriteString(`policy:
  rules:
    - {name: finance, effect: allow, groups: [finance], scopes: [billing.read]`)
	if s.agents == 0 {
		b.WriteString(", agents: [billing, legacy, rpc]")
	}
	b.WriteString("}\n")
	for i, rule := range s.rules {
		_, _ = fmt.Fprintf(&b, "    - {name: rule-%d, %s}\n", i, rule)
	}
	if s.guards != nil {
		b.WriteString("  guards:\n")
	}
	for _, use := range s.guards {
		_, _ = fmt.Fprintf(&b, "    - {name: %[1]s, on: [request, answer], use: %[1]s}\n", use)
	}
	return b.String()
}

// many is as limits that are not reached.
const many = 50_000

// fleet writes the agents.
func (s *gatewaySettings) fleet(b *strings.Builder) {
	const agent = "  - {id: %s, connections: %d, card: \"%s/.well-known/agent-card.json\"}\n"
	if s.agents == 0 {
		_, _ = fmt.Fprintf(b, agent+agent, "billing", many, s.agent, "legacy", many, s.agent+"/0.3")
		_, _ = fmt.Fprintf(b, "  - {id: rpc, connections: %d, card: \"%s/rpc/.well-known/agent-card.json\", endpoints: [\"grpc://%s\"]}\n",
			many, s.agent, s.agentRPC)
		return
	}
	for i := range s.agents {
		_, _ = fmt.Fprintf(b, agent, fleetName(i), many, s.agent+fleetPath+fleetName(i))
	}
}

// usualRules are rules about the agent and groups of other callers.
func usualRules(n int) []string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf("effect: allow, agents: [billing], skills: [skill-%[1]d], groups: [group-%[1]d]", i)
	}
	return rules
}
