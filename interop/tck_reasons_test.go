package interop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tckReason is a row of the table of docs/tck.md: why tests have another result.
type tckReason struct {
	version, agent string // "*" for any
	test           *regexp.Regexp
	direct, other  string // results
}

// explains says whether it is about a difference.
func (r tckReason) explains(version, agent, test, direct, other string) bool {
	fits := func(pattern, s string) bool { return pattern == "*" || pattern == s }
	return fits(r.version, version) && fits(r.agent, agent) && r.test.MatchString(test) &&
		fits(r.direct, direct) && fits(r.other, other)
}

// tckReasons are the rows. In the names of tests a * is any text.
func tckReasons(t *testing.T) []tckReason {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "tck.md"))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []tckReason
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || !strings.Contains(cells[3], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		test := strings.ReplaceAll(regexp.QuoteMeta(cells[3]), `\*`, ".*")
		reasons = append(reasons, tckReason{
			version: cells[1], agent: cells[2], test: regexp.MustCompile("(^|[/:])" + test + "$"), direct: cells[4], other: cells[5],
		})
	}
	if len(reasons) == 0 {
		t.Fatal("docs/tck.md has no table of reasons")
	}
	return reasons
}

// startTCKGateway starts the gateway in front of an agent, open to anybody, as the TCK has no
// credential. Calls over gRPC do not name the agent, so that a host has to.
func startTCKGateway(t *testing.T, version, url string) *gateway {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
admin: {address: "127.0.0.1:0"}
authn: {anonymous: true}
policy: {default: allow}
push: {mode: passthrough}
agents:
  - id: tck
    hosts: ["127.0.0.1"]
    card: {url: %q, form: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}
    endpoints: [%q]
`, dir, url+wellKnown, version, grpcEndpoint(t, url, version))
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)
	return g
}

// grpcEndpoint is where an agent has gRPC, as the gateway's configuration names it.
func grpcEndpoint(t *testing.T, url, version string) string {
	t.Helper()
	_, endpoint := withOneInterface(t, fetchCard(t, url+wellKnown), side{version, "GRPC"})
	return originOf(t, endpoint)
}
