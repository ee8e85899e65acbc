package interop_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestHosts: hosts of MCP on its official SDKs use the skills of an agent as tools.
func TestHosts(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	g, key := credentialGateway(t, issuer.URL)
	for name, command := range map[string][]string{
		"python": {"python/.venv-mcp/bin/python", "python/mcp_host.py"}, "js": {"node", "js/mcp-host.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lacking := missing(append(command, "js/node_modules/@modelcontextprotocol/sdk/package.json")); lacking != "" {
				if requireAll() {
					t.Fatalf("it needs %s; run interop/setup", lacking)
				}
				t.Skipf("it needs %s; run interop/setup", lacking)
			}
			said, err := exec.CommandContext(t.Context(), command[0], append(command[1:], g.url+"/mcp", key)...).Output()
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			var got struct {
				Revision, Text, State, Unknown string
				Tools                          []string
				Error, Same, Progress          bool
				Wrong                          any
			}
			if err := json.Unmarshal(said, &got); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			wrong, _ := got.Wrong.(string)
			if got.Revision == "" || got.Text == "" || got.State != "completed" || got.Error || !got.Same || !got.Progress ||
				!strings.Contains(wrong, "there is no such argument") || !strings.Contains(got.Unknown, "unknown tool") {
				t.Errorf("%s", said)
			}
			for _, tool := range got.Tools {
				if agent, _, skill := strings.Cut(tool, "__"); skill && agent != "robots" {
					t.Errorf("it lists %s", tool)
				}
			}
			if !slices.Contains(got.Tools, "a2a_get_task") {
				t.Errorf("it lists %v", got.Tools)
			}
			if said, err = exec.CommandContext(t.Context(), command[0], append(command[1:], g.url+"/mcp", "no key")...).CombinedOutput(); err == nil {
				t.Errorf("a key that is none was as good: %s", said)
			}
		})
	}
}
