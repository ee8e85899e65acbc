package interop_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestInspector: the command line of MCP's own inspector lists the tools that a key may use, and calls one.
func TestInspector(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	command := []string{"node", "js/node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"}
	if lacking := missing(command); lacking != "" {
		if requireAll() {
			t.Fatalf("it needs %s; run interop/setup", lacking)
		}
		t.Skipf("it needs %s; run interop/setup", lacking)
	}
	t.Parallel()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	g, key := credentialGateway(t, issuer.URL)
	inspect := func(key string, v any, args ...string) error {
		args = append([]string{"cli.js", "--cli", g.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + key}, args...)
		cmd := exec.CommandContext(t.Context(), command[0], args...)
		cmd.Dir = filepath.Dir(command[1]) // it looks for its package from here
		said, err := cmd.Output()
		if err != nil {
			return err
		}
		return json.Unmarshal(said, v)
	}
	var list struct{ Tools []struct{ Name string } }
	if err := inspect(key, &list, "--method", "tools/list"); err != nil {
		t.Fatal(err)
	}
	skill := ""
	for _, tool := range list.Tools {
		if agent, _, ok := strings.Cut(tool.Name, "__"); ok && agent != "robots" {
			t.Errorf("it lists %s", tool.Name)
		} else if ok {
			skill = tool.Name
		}
	}
	var answer struct {
		Content           []struct{ Type, Text string }
		StructuredContent struct{ State string }
		IsError           bool
	}
	err = inspect(key, &answer, "--method", "tools/call", "--tool-name", skill, "--tool-arg", "text=work")
	if err != nil || answer.IsError || answer.StructuredContent.State != "completed" || len(answer.Content) == 0 {
		t.Errorf("%s answers %+v, %v", skill, answer, err)
	}
	err = inspect(key, &answer, "--method", "tools/call", "--tool-name", skill, "--tool-arg", "words=work")
	if err != nil || !answer.IsError || !strings.Contains(answer.Content[0].Text, "there is no such argument") {
		t.Errorf("a wrong argument is answered with %+v, %v", answer, err)
	}
	if err := inspect("no key", &list, "--method", "tools/list"); err == nil {
		t.Errorf("a key that is none lists %+v", list)
	}
}

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
