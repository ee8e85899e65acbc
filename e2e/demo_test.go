package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemoLinesBehaveAsPrinted pastes what the demonstration prints into a
// shell, as a newcomer does, and looks for what each heading promises.
func TestDemoLinesBehaveAsPrinted(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl", "sed")
	p := start(t, "demo", "--address", "127.0.0.1:0")
	p.await(`"method":"tools/list"`) // the last line
	script := pasted(p.out.text())
	out, err := exec.Command("bash", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("paste: %v\n%s", err, out)
	}
	answers := strings.Split(string(out), "@@@\n")[1:]
	want := [][]string{
		{`"id":1,"result":{"task"`, `TASK_STATE_COMPLETED`},
		{"HTTP/1.1 403 Forbidden", `"id":2,"error":{"code":-31403`},
		{`data: {"task"`, `data: {"artifactUpdate"`, `TASK_STATE_COMPLETED`},
		{`"id":4,"error":{"code":-32008`, "cost-centre"},
		{"HTTP/1.1 200 OK", "A2a-Extensions: https://billing.example/extensions/cost-centre/v1", `"id":5,"result"`},
		{`"supportedInterfaces"`, `"id":"summarize"`, `"id":"refund"`},
		{`/agents/billing/skills/summarize"`, `"id":"summarize"`},
		{`"id":6,"result":{"kind":"message"`, "Hello from billing."},
		{`"id":7,"result":{"kind":"task"`, `"state":"completed"`},
		{`"reason":"CONTENT_REFUSED"`},
		{`{"id":"approval-`, "TASK_STATE_COMPLETED"},
		{`"name":"billing__summarize"`},
	}
	if len(answers) != len(want) {
		t.Fatalf("%d answers, want %d:\n%s", len(answers), len(want), out)
	}
	for i, marks := range want {
		for _, mark := range marks {
			if !strings.Contains(answers[i], mark) {
				t.Errorf("answer %d lacks %s:\n%s", i+1, mark, answers[i])
			}
		}
	}
	if strings.Contains(answers[6], `"id":"refund"`) {
		t.Errorf("bob's card shows a skill that bob may not use:\n%s", answers[6])
	}
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code after interrupt: %d", code)
	}
}

// TestDemoHasTraffic: whoever opens the console finds calls of each kind, made by nobody else.
func TestDemoHasTraffic(t *testing.T) {
	t.Parallel()
	p := start(t, "demo", "--address", "127.0.0.1:0")
	p.await(`"text":"forecast Oslo"`)
	at := regexp.MustCompile(`The console is at (\S+)/ui/, for this token: (\S+)`).FindStringSubmatch(p.out.text())
	if at == nil {
		t.Fatal("there is no console")
	}
	for _, query := range []string{
		"caller=alice&decision=allow", "caller=bob&decision=deny", "caller=ci&agent=weather", "agent=treasury&decision=deny",
		"method=SendStreamingMessage&type=call", "caller=carol&agent=billing",
	} {
		eventually(t, "there is a call of "+query, time.Minute, func() bool {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at[1]+"/api/v1/audit/records?limit=1&"+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+at[2])
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return err == nil && strings.Contains(string(body), `"seq":`)
		})
	}
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code after interrupt: %d", code)
	}
}

// pasted is the shell part of the output, with a mark before each command.
func pasted(output string) string {
	var script []string
	begun := false
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "# Tokens") {
			begun = true
		}
		if begun && strings.HasPrefix(line, "curl ") {
			script = append(script, "echo; echo @@@\n")
		}
		if begun {
			script = append(script, line)
		}
	}
	return strings.Join(script, "")
}

// onlyMatch is the only file or directory of a pattern.
func onlyMatch(t *testing.T, dir string, pattern ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v in %s: %q, %v", pattern, dir, found, err)
	}
	return found[0]
}

// TestAuditSurvivesKill ends the gateway with SIGKILL while calls run: whatever
// an agent was asked for has its record.
func TestAuditSurvivesKill(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl", "sed")
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	// What is killed leaves its files behind: they are in a directory that goes with the test.
	temporary := t.TempDir()
	p := launch(t, program, []string{"OTEL_SDK_DISABLED=true", "TMPDIR=" + temporary}, "demo", "--address", "127.0.0.1:0", "--traffic=false")
	p.await(`"text":"forecast Oslo"`)
	text := p.out.text()
	dir := onlyMatch(t, temporary, "*", "audit")

	const calls = 20
	line := lineWith(text, `"text":"forecast Oslo"`, "curl ")
	for range calls {
		out, err := exec.Command("bash", "-c", strings.Replace(line, "forecast Oslo", "hello", 1)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"result"`) {
			t.Fatalf("call: %v\n%s", err, out)
		}
	}
	if code := p.signal(syscall.SIGKILL); code != -1 {
		t.Fatalf("exit code after SIGKILL: %d", code)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no audit segment in %s: %v", dir, err)
	}
	var records strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		records.Write(b)
	}
	if n := strings.Count(records.String(), `"type":"intent"`); n != calls {
		t.Errorf("%d intents on disk, want %d:\n%.2000s", n, calls, records.String())
	}
	if n := strings.Count(records.String(), `"type":"call"`); n != calls {
		t.Errorf("%d call records on disk, want %d", n, calls)
	}
}

// lineWith joins the command whose continuation holds the mark.
func lineWith(text, mark, prefix string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		if strings.Contains(line, mark) && i > 0 && strings.HasPrefix(all[i-1], prefix) {
			return all[i-1] + "\n" + line
		}
	}
	return ""
}
