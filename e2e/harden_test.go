package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// attacked is a gateway with TLS and one agent, for other people's programs to attack.
type attacked struct {
	*process
	url  *url.URL // of the agent
	call *http.Client
}

// hardening starts one, with more in its server section, unless nobody asked for it (make
// harden) or the program is not there.
func hardening(t *testing.T, program, more string) *attacked {
	t.Helper()
	if os.Getenv("A2A_GATEWAY_TEST_HARDEN") == "" {
		t.Skip("A2A_GATEWAY_TEST_HARDEN is not set; make harden sets it")
	}
	need(t, program)
	agent, err := demo.Agent10(demo.Options{Step: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	dir := t.TempDir()
	certificate(t, dir)
	config := filepath.Join(dir, "config.yaml")
	write(t, config, fmt.Sprintf(`server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "https://127.0.0.1:8443"
  dataDir: data
%s
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: billing, card: %q}]
`, more, agent.CardURL))
	p := start(t, "serve", "-c", config)
	u, err := url.Parse(part(p.await(`"msg":"serving"`), "url") + "/agents/billing")
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &attacked{p, u, &http.Client{Transport: tr, Timeout: 10 * time.Second}}
}

// serves makes a call, which has to be answered in full.
func (a *attacked) serves() error {
	const message = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`
	resp, err := a.call.Post(a.url.String()+"/message:send", "application/json", strings.NewReader(message))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("Hello"))) {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, body)
	}
	return err
}

// descriptors is how many files and sockets the gateway has open.
func (a *attacked) descriptors() int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", a.cmd.Process.Pid))
	if err != nil {
		a.t.Skipf("descriptors of a process cannot be read here: %v", err)
	}
	return len(list)
}

// bounded runs a program for so long at most, and leaves nothing of it behind. Its result
// is in what it writes: some of these end with an error when they have found something.
func bounded(t *testing.T, most time.Duration, dir, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with all that it starts
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s did not end within %v", program, most)
	}
	return string(out)
}

// raced are cases, with the arguments that run them alone, that go on with a stream which has
// been answered in full by then when the machine is quick (RFC 9113 §8.1): its frames are
// ignored (§5.1), and there is nothing to judge until the suite wins the race.
var raced = map[string]string{
	"http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream": "http2/6.9.1/3",
}

// TestL20_H2spec: HTTP/2 as a conformance suite reads the specification, over TLS.
func TestL20_H2spec(t *testing.T) {
	t.Parallel()
	a := hardening(t, "h2spec", `  tls: {certificates: [{cert: cert.pem, key: key.pem}]}`)
	dir := t.TempDir()
	run := func(more ...string) string {
		return bounded(t, 2*time.Minute, dir, "h2spec", append([]string{"-h", a.url.Hostname(), "-p", a.url.Port(),
			"-P", a.url.Path, "-t", "-k", "-o", "5"}, more...)...)
	}
	out := run("-j", "report.xml")
	text, err := os.ReadFile(filepath.Join(dir, "report.xml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var report struct {
		Suites []struct {
			Cases []struct {
				Package string `xml:"package,attr"`
				Name    string `xml:"classname,attr"`
				Result  string `xml:",innerxml"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	cases, passed := 0, 0
	for _, suite := range report.Suites {
		for _, c := range suite.Cases {
			cases++
			name, result := c.Package+" "+c.Name, strings.Join(strings.Fields(c.Result), " ")
			switch {
			case result == "":
				passed++
			case raced[name] != "" && wins(20, func() string { return run(raced[name]) }):
				passed++
			default:
				t.Errorf("%s: %s", name, result)
			}
		}
	}
	if t.Logf("h2spec: %d of %d cases", passed, cases); cases < 145 {
		t.Errorf("%d cases were run\n%s", cases, out)
	}
	if err := a.serves(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// wins reports whether one of so many runs of h2spec passes all its cases.
func wins(most int, run func() string) bool {
	for range most {
		if strings.Contains(run(), " 0 failed") {
			return true
		}
	}
	return false
}

// TestL21_Slowhttptest: who is slow in each of four ways is cut off at the limits, while
// the calls of others are answered.
func TestL21_Slowhttptest(t *testing.T) {
	t.Parallel()
	a := hardening(t, "slowhttptest", `  tls: {certificates: [{cert: cert.pem, key: key.pem}]}
  timeouts: {header: 5s, body: 5s, idle: 5s, write: 5s}`)
	if err := a.serves(); err != nil {
		t.Fatal(err)
	}
	before, reports := a.descriptors(), sync.Map{}
	var slow sync.WaitGroup
	for name, args := range map[string][]string{
		"heads":   {"-H", "-i", "3", "-x", "24"},
		"bodies":  {"-B", "-i", "3", "-x", "10", "-s", "100000"},
		"ranges":  {"-R", "-a", "5", "-b", "3000"},
		"readers": {"-X", "-k", "3", "-n", "3", "-w", "10", "-y", "20", "-z", "8"},
	} {
		slow.Go(func() {
			args = append(args, "-c", "300", "-r", "150", "-l", "40", "-p", "10", "-u", a.url.String())
			reports.Store(name, bounded(t, time.Minute, t.TempDir(), "slowhttptest", args...))
		})
	}
	most, calls, released := 0, 0, time.Duration(0)
	for begun := time.Now(); released == 0 && time.Since(begun) < time.Minute; time.Sleep(50 * time.Millisecond) {
		if err := a.serves(); err != nil {
			t.Errorf("a call beside them: %v", err)
		}
		calls++
		open := a.descriptors()
		if most = max(most, open); most > before+300 && open < before+50 {
			released = time.Since(begun)
		}
	}
	slow.Wait()
	t.Logf("slowhttptest: %d connections at most, given up after %v, %d calls beside them", most-before, released, calls)
	if released == 0 {
		t.Errorf("%d connections are still held, of %d", a.descriptors()-before, most-before)
	}
	reports.Range(func(name, report any) bool {
		// Slow readers do not find out that nobody is on the other side.
		if text := fmt.Sprint(report); name != "readers" && !strings.Contains(text, "No open connections left") {
			t.Errorf("slow %s:\n%s", name, text)
		}
		return true
	})
}

// TestL24_Testssl: TLS as it may be configured at its weakest. The certificate is the test's
// own, and nothing is said of it that is the gateway's doing.
func TestL24_Testssl(t *testing.T) {
	t.Parallel()
	a := hardening(t, "testssl", `  tls: {minVersion: "1.2", certificates: [{cert: cert.pem, key: key.pem}]}`)
	dir := t.TempDir()
	out := bounded(t, 5*time.Minute, dir, "testssl", "--quiet", "--color", "0", "--warnings", "off", "--nodns", "none",
		"--ip", a.url.Hostname(), "--connect-timeout", "5", "--openssl-timeout", "5",
		"-p", "-s", "-f", "-S", "-h", "-U", "--jsonfile", "report.json", "https://"+a.url.Host)
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var findings []struct{ ID, Severity, Finding string }
	if err := json.Unmarshal(text, &findings); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]bool{}
	for _, f := range findings {
		seen[f.ID] = true
		switch {
		case !slices.Contains([]string{"LOW", "MEDIUM", "HIGH", "CRITICAL", "FATAL"}, f.Severity):
		case f.Severity == "LOW" || strings.HasPrefix(f.ID, "cert_"):
			t.Logf("%s: %s: %s", f.Severity, f.ID, f.Finding)
		default:
			t.Errorf("%s: %s: %s", f.Severity, f.ID, f.Finding)
		}
	}
	t.Logf("testssl: %d checks", len(findings))
	for _, id := range []string{"TLS1_2", "TLS1_3", "cipherlist_NULL", "FS", "HSTS_time", "ROBOT", "LUCKY13"} {
		if !seen[id] && !seen["P"+id] { // PFS in older versions
			t.Errorf("%s was not checked\n%s", id, out)
		}
	}
}
