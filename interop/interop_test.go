package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sdk is one SDK of another language: how its programs are run.
type sdk struct {
	name    string // "JavaScript 1.3.0"
	id      string // as an agent id: "js-v1"
	version string // of the protocol
	agent   []string
	client  []string
	needs   []string // files and commands without which it cannot run
}

func sdks() []sdk {
	js := func(name, v, protocol string) sdk {
		return sdk{
			name: name, id: "js-" + v, version: protocol,
			agent:  []string{"node", "js/agent-" + v + ".mjs"},
			client: []string{"node", "js/client-" + v + ".mjs"},
			needs:  []string{"node", "js/node_modules/a2a-" + v + "/package.json"},
		}
	}
	python := func(name, v, protocol string) sdk {
		bin := "python/.venv-" + v + "/bin/python"
		return sdk{
			name: name, id: "python-" + v, version: protocol,
			agent:  []string{bin, "python/agent_" + v + ".py"},
			client: []string{bin, "python/client_" + v + ".py"},
			needs:  []string{bin},
		}
	}
	return []sdk{
		js("@a2a-js/sdk 1.3.0", "v1", "1.0"), python("a2a-sdk 1.3.0", "v1", "1.0"),
		js("@a2a-js/sdk 0.3.14", "v03", "0.3"), python("a2a-sdk 0.3.26", "v03", "0.3"),
	}
}

func bindings() []string { return []string{"JSONRPC", "HTTP+JSON"} }

// outcome is one operation as a client program prints it.
type outcome struct {
	Operation string   `json:"operation"`
	Ticks     bool     `json:"ticks"`
	Lines     []string `json:"lines"`
}

// TestMatrix runs every client against every agent of the same protocol
// version, direct and through the gateway.
func TestMatrix(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	var present []sdk
	for _, s := range sdks() {
		if lacking := missing(s.needs); lacking != "" {
			if requireAll() {
				t.Fatalf("%s needs %s; run interop/setup", s.name, lacking)
			}
			t.Logf("%s is left out: it needs %s; run interop/setup", s.name, lacking)
			continue
		}
		present = append(present, s)
	}
	// The issuer is a Node program too.
	if lacking := missing([]string{"node", "js/node_modules/oidc-provider/package.json"}); lacking != "" {
		if requireAll() {
			t.Fatalf("the issuer needs %s; run interop/setup", lacking)
		}
		t.Skipf("the issuer needs %s; run interop/setup", lacking)
	}
	token := accessToken(t, startProgram(t, nil, "node", "js/issuer.mjs"))
	agents := map[string]string{}
	for _, s := range present {
		agents[s.id] = startProgram(t, nil, s.agent...).URL
	}
	base := startGateway(t, agents, token.issuer)

	var found table
	t.Run("pairs", func(t *testing.T) {
		for _, agent := range present {
			for _, client := range present {
				if agent.version != client.version {
					continue
				}
				for _, binding := range bindings() {
					t.Run(client.id+" to "+agent.id+" "+binding, func(t *testing.T) {
						t.Parallel()
						direct := runClient(t, client, agents[agent.id], binding, "")
						through := runClient(t, client, base(agent.id), binding, "Bearer "+token.value)
						found.add(client, agent, binding, compare(t, direct, through, onlyRefused(agent, binding)))
					})
				}
			}
		}
	})
	if len(present) == len(sdks()) {
		found.write(t, filepath.Join("..", "docs", "interop.md"))
	}
}

func runClient(t *testing.T, s sdk, base, binding, authorization string) []outcome {
	t.Helper()
	out := runProgram(t, []string{"AUTHORIZATION=" + authorization}, append(s.client, base, binding)...)
	var outcomes []outcome
	for line := range bytes.Lines(out) {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%s printed %q: %v", s.id, line, err)
		}
		if len(o.Lines) > 0 { // what this version of the protocol does not have is empty
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) < 15 {
		t.Fatalf("%s did %d operations only", s.id, len(outcomes))
	}
	return outcomes
}

// onlyRefused names the operations of which no more is compared than that they
// were refused, since the two sides cannot refuse alike.
func onlyRefused(agent sdk, binding string) []string {
	// The gateway answers for the agent, who is not asked.
	operations := []string{"unknown task"}
	if agent.id == "python-v03" && binding == "HTTP+JSON" {
		// This agent breaks the connection off in the middle of the answer;
		// the gateway says on the stream that the agent did.
		operations = append(operations, "subscribe to an ended task")
	}
	return operations
}

// compare fails the test for every operation that went another way through the
// gateway, and gives the number of operations that did not.
func compare(t *testing.T, direct, through []outcome, refused []string) verdict {
	t.Helper()
	v := verdict{operations: len(direct)}
	if len(through) != len(direct) {
		t.Errorf("%d operations direct, %d through the gateway", len(direct), len(through))
		return v
	}
	for i := range direct {
		plain := slices.Contains(refused, direct[i].Operation)
		a, b := names{}.rewrite(direct[i], plain), names{}.rewrite(through[i], plain)
		if slices.Equal(a, b) {
			v.same++
			continue
		}
		v.differ = append(v.differ, direct[i].Operation)
		t.Errorf("%s differs\ndirect:\n%s\nthrough the gateway:\n%s",
			direct[i].Operation, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	return v
}

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
	errors = regexp.MustCompile(`: error .*`)
)

// names maps ids to their order of first appearance: what differs between two
// runs that are the same.
type names map[string]string

// rewrite gives the lines of an outcome; with plain, errors without their kind.
func (n names) rewrite(o outcome, plain bool) []string {
	var out []string
	for _, line := range o.Lines {
		line = times.ReplaceAllString(line, "<time>")
		line = uuids.ReplaceAllStringFunc(line, func(id string) string {
			if _, ok := n[id]; !ok {
				n[id] = fmt.Sprintf("<id%d>", len(n)+1)
			}
			return n[id]
		})
		if plain {
			line = errors.ReplaceAllString(line, ": error")
		}
		// How often a task that ticks says so is a matter of luck.
		if !o.Ticks || !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// verdict is the result of one pair.
type verdict struct {
	operations, same int
	differ           []string
}

// table collects verdicts for docs/interop.md.
type table struct {
	mu   sync.Mutex // guards rows
	rows []string
}

func (t *table) add(client, agent sdk, binding string, v verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	result := fmt.Sprintf("%d of %d", v.same, v.operations)
	if len(v.differ) > 0 {
		result += "; differs: " + strings.Join(v.differ, ", ")
	}
	names := map[string]string{"JSONRPC": "JSON-RPC"}
	if name, ok := names[binding]; ok {
		binding = name
	}
	t.rows = append(t.rows,
		fmt.Sprintf("| %s | %s | %s | %s | %s |\n", agent.version, binding, client.name, agent.name, result))
}

const tableHead = `# Interoperability

Every client below ran the operations of ` + "`interop/`" + ` against every agent twice: direct, and
through the gateway with a token of a certified OpenID Connect issuer. "19 of 19" means that
what the client's SDK returned was the same both times, but for ids and times; where an SDK
fails at an operation, it failed the same way. For a task that does not exist only the refusal
is compared, since the gateway does not ask the agent; likewise where the agent of a2a-sdk 0.3
breaks off a stream that it refuses. The Go SDKs have a matrix of their own in
` + "`internal/gateway`" + `, which also compares the wire.

This page is written by ` + "`make interop`" + `.

| protocol | binding | client | agent | the same |
| --- | --- | --- | --- | --- |
`

func (t *table) write(tb testing.TB, path string) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.rows)
	slices.Reverse(t.rows) // newest protocol first
	if err := os.WriteFile(path, []byte(tableHead+strings.Join(t.rows, "")), 0o644); err != nil {
		tb.Fatal(err)
	}
}
