package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestParsers has clients whose parsers of Server-Sent Events are strict in ways of their own
// read streams with ids and heartbeats in every silence: of a call, of one that lasts until
// streams.lifetime ends it, and of a subscription. Each has to have every event of the
// agent's, then the error that the gateway ended the stream with, if it did, and nothing
// else. Every client is a program that prints a line for each thing it was given.
func TestParsers(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	g := startParsersGateway(t)
	for _, c := range parsers() {
		t.Run(c.name, func(t *testing.T) {
			if lacking := missing(c.needs); lacking != "" {
				if requireAll() {
					t.Fatalf("it needs %s; run interop/setup", lacking)
				}
				t.Skipf("it needs %s; run interop/setup", lacking)
			}
			t.Parallel()
			for _, what := range c.runs {
				want := []string{"working", "one", "two", "completed", "end"}
				switch what {
				case "endless":
					want = []string{"working", "one", "two", "subscribe again"}
				case "resubscribe":
					want = []string{"working", "two", "completed", "end"}
				}
				base, task := g.url+"/agents/"+c.agent, "known-"+strings.ReplaceAll(c.name, " ", "-")
				if what == "resubscribe" {
					begin(t, base, c.agent, task)
				}
				if diff := cmp.Diff(want, c.run(t, base, what, task)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// reader is a client with a parser of its own.
type reader struct {
	name, agent string
	runs        []string // what it can do
	needs       []string
	run         func(t *testing.T, base, what, task string) []string
}

func parsers() []reader {
	every := []string{"stream", "endless", "resubscribe"}
	program := func(command ...string) func(*testing.T, string, string, string) []string {
		return func(t *testing.T, base, what, task string) []string {
			t.Helper()
			//nolint:gosec // the commands below
			out, err := exec.CommandContext(t.Context(), command[0], append(slices.Clone(command[1:]), base, what, task)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			return strings.Split(strings.TrimSpace(string(out)), "\n")
		}
	}
	python := func(name, venv, script, agent string, runs []string) reader {
		bin := "python/.venv-" + venv + "/bin/python"
		return reader{name, agent, runs, []string{bin}, program(bin, "python/"+script)}
	}
	node := func(name, script, agent, needs string) reader {
		return reader{name, agent, every, []string{"node", "js/node_modules/" + needs + "/package.json"}, program("node", "js/"+script)}
	}
	return []reader{
		python("httpx-sse 0.4.3", "v0216", "parse_raw.py", "v03", every),
		python("a2a-sdk 0.2.16", "v0216", "parse_v02.py", "v03", every[:2]),
		python("a2a-sdk 0.3.10", "v0310", "parse_v03.py", "v03", every),
		python("a2a-sdk 0.3.26", "v03", "parse_v03.py", "v03", every),
		python("a2a-sdk 1.3.0", "v1", "parse_v1.py", "v10", every),
		node("eventsource-parser", "parse-raw.mjs", "v03", "eventsource-parser"),
		node("@a2a-js/sdk 0.3.14", "parse-v03.mjs", "v03", "a2a-v03"),
		node("@a2a-js/sdk 1.3.0", "parse-v1.mjs", "v10", "a2a-v1"),
		{"curl", "v03", every, []string{"curl"}, readByCurl},
		{goSDK, "v10", every, nil, readByGo},
	}
}

// readByCurl has the lines of a stream as they come, and knows nothing but data lines.
func readByCurl(t *testing.T, base, what, task string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "curl", "-sN", base, "-H", "Content-Type: application/json", "-d", callOf(what, task)).Output() //nolint:gosec // in a test
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for line := range strings.Lines(string(out)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			said = append(said, wordOf(t, []byte(data)))
		}
	}
	if last := said[len(said)-1]; last == "completed" {
		said = append(said, "end")
	}
	return said
}

// readByGo has the Go SDK read it.
func readByGo(t *testing.T, base, what, task string) []string {
	t.Helper()
	sdk, _ := gatewaytest.Dial(t, gatewaytest.Go10, gatewaytest.HTTPClient(t, http.Header{}, nil), base, "1.0", "JSONRPC")
	events := sdk.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(what))})
	if what == "resubscribe" {
		events = sdk.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(task)})
	}
	var said []string
	for e, err := range events {
		switch e := e.(type) {
		case nil:
			if strings.Contains(fmt.Sprint(err), "subscribe again") {
				return append(said, "subscribe again")
			}
			return append(said, fmt.Sprint(err))
		case *a2a.Task:
			said = append(said, stateWord(string(e.Status.State)))
		case *a2a.TaskStatusUpdateEvent:
			said = append(said, stateWord(string(e.Status.State)))
		case *a2a.TaskArtifactUpdateEvent:
			said = append(said, e.Artifact.Parts[0].Text())
		}
	}
	return append(said, "end")
}

func stateWord(state string) string { return strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")) }

func callOf(what, task string) string {
	if what == "resubscribe" {
		return `{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"` + task + `"}}`
	}
	return `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user",` +
		`"parts":[{"kind":"text","text":"` + what + `"}]}}}`
}

// begin has the agent begin a task.
func begin(t *testing.T, base, agent, task string) {
	t.Helper()
	method, version, role, part := "message/send", "0.3", "user", `{"kind":"text","text":"begin"}`
	if agent == "v10" {
		method, version, role, part = "SendMessage", "1.0", "ROLE_USER", `{"text":"begin"}`
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":{"messageId":%q,"role":%q,"parts":[%s]}}}`, method, task, role, part)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", version)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); !strings.Contains(string(text), task) || strings.Contains(string(text), `"error"`) {
		t.Fatalf("begin: %s %s", resp.Status, text)
	}
}

// wordOf is an event of 0.3 in a word.
func wordOf(t *testing.T, data []byte) string {
	t.Helper()
	var e struct {
		Result struct {
			Status   struct{ State string }
			Artifact struct{ Parts []struct{ Text string } }
		}
		Error struct{ Message string }
	}
	switch err := json.Unmarshal(data, &e); {
	case err != nil:
		return fmt.Sprintf("%v: %q", err, data)
	case strings.Contains(e.Error.Message, "subscribe again"):
		return "subscribe again"
	case len(e.Result.Artifact.Parts) > 0:
		return e.Result.Artifact.Parts[0].Text
	}
	return e.Result.Status.State + e.Error.Message
}

// startParsersGateway starts an agent of 0.3 and one of 1.0 that are silent between their
// events, and a gateway in front of both with heartbeats that are quicker.
func startParsersGateway(t *testing.T) *gateway {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(quiet))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: %q
  timeouts: {heartbeat: 100ms}
admin: {address: "127.0.0.1:0"}
authn: {anonymous: true}
policy: {default: allow, tasks: {scope: agent}}
streams: {lifetime: 3s}
agents:
  - {id: v03, card: "%[2]s/v03"}
  - {id: v10, card: "%[2]s/v10"}
`, dir, server.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)
	return g
}

// tasks counts those of quiet.
var tasks atomic.Int64

// silence is what the agents keep behind each event: several heartbeats, and with all of it
// less than a stream may last.
const silence = 300 * time.Millisecond

// quiet is the agents: it serves their cards, and has an event now and then.
func quiet(w http.ResponseWriter, r *http.Request) {
	base := "http://" + r.Host
	card := map[string]any{
		"name": "Quiet", "description": "d", "version": "1", "capabilities": map[string]any{"streaming": true},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
		"skills": []map[string]any{{"id": "s", "name": "s", "description": "s", "tags": []string{"t"}}},
	}
	switch r.URL.Path {
	case "/v03":
		card["url"], card["protocolVersion"], card["preferredTransport"] = base+"/rpc", "0.3.0", "JSONRPC"
	case "/v10":
		card["supportedInterfaces"] = []map[string]string{{"url": base + "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}
	default:
		converseQuietly(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(card)
}

func converseQuietly(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct{ MessageID string }
		}
	}
	_ = json.Unmarshal(body, &call) // the gateway has read it
	task, now := fmt.Sprintf("task-%d", tasks.Add(1)), strings.Contains(call.Method, "S")
	say := func(result string) {
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", call.ID, strings.ReplaceAll(result, "@", task))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(silence):
		case <-r.Context().Done():
		}
	}
	first, status, artifact := `{"kind":"task","id":"@","contextId":"c-@","status":{"state":"working"}}`,
		`{"kind":"status-update","taskId":"@","contextId":"c-@","status":{"state":"completed"},"final":true}`,
		`{"kind":"artifact-update","taskId":"@","contextId":"c-@","artifact":{"artifactId":"%s","parts":[{"kind":"text","text":"%[1]s"}]}}`
	if now {
		first, status, artifact = `{"task":{"id":"@","contextId":"c-@","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"@","contextId":"c-@","status":{"state":"TASK_STATE_COMPLETED"}}}`,
			`{"artifactUpdate":{"taskId":"@","contextId":"c-@","artifact":{"artifactId":"%s","parts":[{"text":"%[1]s"}]}}}`
	}
	w.Header().Set("Content-Type", "text/event-stream")
	again := strings.Contains(strings.ToLower(call.Method), "subscribe")
	if again {
		task = call.Params.ID
	}
	if !strings.Contains(strings.ToLower(call.Method), "stream") && !again { // the task that is subscribed to later
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, strings.ReplaceAll(first, "@", call.Params.Message.MessageID))
		return
	}
	say(first)
	if !again {
		say(fmt.Sprintf(artifact, "one"))
	}
	say(fmt.Sprintf(artifact, "two"))
	if strings.Contains(string(body), "endless") {
		<-r.Context().Done()
		return
	}
	say(status)
}
