package gateway_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestTryCommand: what is shown for a shell makes the same call there, whatever is in it.
func TestTryCommand(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			testenv.Missing(t, "%v", err)
		}
	}
	s := newWorkshop(t, plain, openPolicy)
	credentials := map[string]func(*trials.Attempt) string{
		"bearer": func(a *trials.Attempt) string { a.Bearer = bearer(s.token("alice")); return a.Bearer },
		"key":    func(a *trials.Attempt) string { a.APIKey = s.key("bob").Get("X-Api-Key"); return a.APIKey },
	}
	const text = `it's "here", $CREDENTIAL and $(false)` + " `false` \\n !"
	for name, credential := range credentials {
		var a trials.Attempt
		secret := credential(&a)
		a.Agent, a.Version, a.Binding, a.Method = "modern", "1.0", "JSONRPC", "ListTasks"
		eventually(t, "the credential is good", func() bool { return s.try(&a).Status == http.StatusOK })
		for _, tt := range []struct{ version, binding, method, params, want string }{
			{"1.0", "JSONRPC", "SendMessage", fmt.Sprintf(trialText10, text), `"result"`},
			{"0.3", "HTTP+JSON", "SendMessage", fmt.Sprintf(trialText03, text), "ROLE_AGENT"},
			{"1.0", "HTTP+JSON", "SendStreamingMessage", fmt.Sprintf(trialText10, text), "data: "},
			{"1.0", "HTTP+JSON", "GetTask", `{"id":"it's none"}`, "TASK_NOT_FOUND"},
			{"1.0", "HTTP+JSON", "CancelTask", `{"id":"none"}`, "TASK_NOT_FOUND"},
			{"1.0", "GRPC", "SendMessage", fmt.Sprintf(trialText10, text), ""},
		} {
			a.Agent, a.Version, a.Binding, a.Method, a.Params, a.Extensions = "modern", tt.version, tt.binding, tt.method, []byte(tt.params), []string{demo.CostCentre}
			got := s.try(&a)
			if tt.want == "" {
				if got.Command != "" {
					t.Errorf("over %s: %s", tt.binding, got.Command)
				}
				continue
			}
			if strings.Contains(got.Command, secret) || !strings.HasPrefix(got.Command, "curl -sS ") {
				t.Fatalf("%s %v: %s", name, tt, got.Command)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", got.Command+" -w 'status %{http_code}'")
			cmd.Env = append(os.Environ(), "CREDENTIAL="+secret, "no_proxy=*")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) || !strings.HasSuffix(string(out), fmt.Sprint("status ", got.Status)) {
				t.Errorf("%s: %s\n%s %v; in the console %d %s", name, got.Command, out, err, got.Status, got.Received)
			}
			if tt.method == "SendMessage" && got.Status != http.StatusOK {
				t.Errorf("%s %v: %d", name, tt, got.Status)
			}
		}
	}
}
