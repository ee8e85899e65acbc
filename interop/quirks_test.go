package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQuirks has agents and clients whose habits docs/quirks.md names work through the
// gateway: each agent with callers of 1.0 and 0.3, and each client with its own agent.
func TestQuirks(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	for _, release := range []string{"06", "21"} {
		t.Run("fasta2a"+release, func(t *testing.T) {
			python := "python/.venv-fasta2a" + release + "/bin/python"
			if lacking := missing([]string{python}); lacking != "" {
				if requireAll() {
					t.Fatalf("it needs %s; run interop/setup", lacking)
				}
				t.Skipf("it needs %s; run interop/setup", lacking)
			}
			a := startProgram(t, nil, python, "python/agent_fasta2a.py")
			g := startQuirksGateway(t, a.URL)
			for _, version := range []string{"1.0", "0.3"} {
				wantEcho(t, g.base("quirky")+"/", version)
			}
			//nolint:gosec // the commands above
			out, err := exec.CommandContext(t.Context(), python, "python/client_fasta2a.py", g.base("quirky")).CombinedOutput()
			if err != nil || string(out) != "completed\necho\n" {
				t.Errorf("its client: %v\n%s", err, out)
			}
		})
	}
}

// startQuirksGateway starts the gateway in front of an agent, with no more than its address.
func startQuirksGateway(t *testing.T, url string) *gateway {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
admin: {address: "127.0.0.1:0"}
authn: {anonymous: true}
policy: {default: allow, tasks: {scope: agent}}
agents: [{id: quirky, card: %q}]
`, dir, url+wellKnown)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)
	return g
}

// shownTask is what an answer of either version has of a task.
type shownTask struct {
	ID     string `json:"id"`
	Status struct {
		State     string `json:"state"`
		Timestamp string `json:"timestamp"`
	} `json:"status"`
	Artifacts []struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	} `json:"artifacts"`
}

// wantEcho sends a message with nothing but what its version asks for, and wants the task's
// artifact, and times that every reader of 1.0 reads.
func wantEcho(t *testing.T, base, version string) {
	t.Helper()
	send, get, params := "SendMessage", "GetTask", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	if version == "0.3" {
		send, get = "message/send", "tasks/get"
		params = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]},
			"configuration":{"acceptedOutputModes":["application/json"]}}`
	}
	task := callTask(t, base, version, send, params)
	for until := time.Now().Add(patience); strings.ToLower(task.Status.State) != "completed" && task.Status.State != "TASK_STATE_COMPLETED"; {
		if time.Now().After(until) {
			t.Fatalf("%s: the task is %s", version, task.Status.State)
		}
		time.Sleep(50 * time.Millisecond)
		task = callTask(t, base, version, get, fmt.Sprintf(`{"id":%q}`, task.ID))
	}
	if len(task.Artifacts) != 1 || task.Artifacts[0].Parts[0].Text != "echo" {
		t.Errorf("%s: artifacts %v", version, task.Artifacts)
	}
	if _, err := time.Parse(time.RFC3339, task.Status.Timestamp); version == "1.0" && err != nil {
		t.Errorf("%s: %v", version, err)
	}
}

// callTask is the task that a call returns.
func callTask(t *testing.T, base, version, method, params string) shownTask {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", version)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct {
			shownTask

			Task *shownTask `json:"task"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %v: %s", method, err, text)
	}
	if answer.Result.Task != nil {
		return *answer.Result.Task
	}
	if answer.Result.ID == "" {
		t.Fatalf("%s: %s", method, text)
	}
	return answer.Result.shownTask
}
