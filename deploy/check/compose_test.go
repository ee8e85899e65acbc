package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// project is the compose file as its own reader has it.
func project(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{root + "/deploy/compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mounted is the file of the repository at a path in a service's container.
func mounted(t *testing.T, s *types.ServiceConfig, path string) string {
	t.Helper()
	for _, v := range s.Volumes {
		if rest, ok := strings.CutPrefix(path, v.Target); ok && v.Type == types.VolumeTypeBind {
			return v.Source + rest
		}
	}
	t.Fatalf("%s is in no mount of %s", path, s.Name)
	return ""
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// closed: what a service mounts is there and cannot be written, and it publishes nothing beyond this machine.
func closed(t *testing.T, name string, s *types.ServiceConfig) {
	t.Helper()
	for _, v := range s.Volumes {
		if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && (err != nil || !v.ReadOnly) {
			t.Errorf("%s: mounts %s, read-only %v: %v", name, v.Source, v.ReadOnly, err)
		}
	}
	for _, port := range s.Ports {
		if port.HostIP != "127.0.0.1" {
			t.Errorf("%s: publishes %s on %q", name, port.Published, port.HostIP)
		}
	}
}

// TestComposeFile: what is mounted is there, nothing is published beyond this machine, and
// the containers of the program may do nothing but run it.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	p := project(t)
	for _, name := range []string{"billing", "weather", "issuer", "redis", "gateway", "prometheus", "grafana"} {
		if _, ok := p.Services[name]; !ok {
			t.Errorf("there is no service %s", name)
		}
	}
	for name, s := range p.Services {
		closed(t, name, &s)
		if s.Build == nil {
			if !strings.Contains(s.Image, ":") || strings.HasSuffix(s.Image, ":latest") {
				t.Errorf("%s: which %s?", name, s.Image)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || s.Privileged || s.HealthCheck == nil {
			t.Errorf("%s: not confined, or nobody asks how it is", name)
		}
	}
	if g := p.Services["gateway"]; time.Duration(*g.StopGracePeriod) <= 30*time.Second {
		t.Errorf("the gateway is killed %s after it was asked to drain, which takes 30 s", g.StopGracePeriod)
	}
}

// TestComposeMonitoring: Prometheus asks the gateway and has the rules, Grafana has
// Prometheus and the dashboards.
func TestComposeMonitoring(t *testing.T) {
	t.Parallel()
	p := project(t)
	prometheus, grafana := p.Services["prometheus"], p.Services["grafana"]
	file := mounted(t, &prometheus, "/etc/prometheus/prometheus.yml")
	var scrape struct {
		RuleFiles     []string `json:"rule_files"`
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(text(t, file)), &scrape); err != nil {
		t.Fatal(err)
	}
	if got := scrape.ScrapeConfigs[0].StaticConfigs[0].Targets; !slices.Equal(got, []string{"gateway:9902"}) {
		t.Errorf("it asks %v", got)
	}
	text(t, mounted(t, &prometheus, scrape.RuleFiles[0]))
	var sources struct {
		Datasources []struct{ Type, URL string }
	}
	if err := yaml.Unmarshal([]byte(text(t, mounted(t, &grafana, "/etc/grafana/provisioning/datasources/a2a-gateway.yaml"))), &sources); err != nil {
		t.Fatal(err)
	}
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" || sources.Datasources[0].URL != "http://prometheus:9090" {
		t.Errorf("data sources %+v", sources)
	}
	var boards struct {
		Providers []struct{ Options struct{ Path string } }
	}
	if err := yaml.Unmarshal([]byte(text(t, mounted(t, &grafana, "/etc/grafana/provisioning/dashboards/a2a-gateway.yaml"))), &boards); err != nil {
		t.Fatal(err)
	}
	text(t, mounted(t, &grafana, boards.Providers[0].Options.Path+"/fleet.json"))

	// Older ones do not know this key, and need another (docs/telemetry.md).
	config := regexp.MustCompile(`(?m)^ *always_scrape_classic_histograms:.*\n`).ReplaceAllString(text(t, file), "")
	config = strings.ReplaceAll(config, scrape.RuleFiles[0], mounted(t, &prometheus, scrape.RuleFiles[0]))
	checked := filepath.Join(t.TempDir(), "prometheus.yml")
	write(t, checked, []byte(config))
	if out, err := exec.Command(required(t, "promtool", "prometheus"), "check", "config", checked).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// printed are the first line that each part prints.
var printed = map[string]*regexp.Regexp{
	"billing": regexp.MustCompile(`card is at (http://[^/]+)`),
	"weather": regexp.MustCompile(`card is at (http://[^/]+)`),
	"issuer":  regexp.MustCompile(`issuer is (http://[^;]+);`),
}

// begin starts the program and has it ended with the test.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// TestComposeServes runs what the file runs of the program itself, on this machine: names of
// services are loopback here, and there is no Redis. alice gets a token and an answer.
func TestComposeServes(t *testing.T) {
	t.Parallel()
	p, exe := project(t), program(t)
	g := p.Services["gateway"]
	config := text(t, mounted(t, &g, "/etc/a2a-gateway/config.yaml"))
	at := map[string]string{}
	for name, line := range printed {
		command := p.Services[name].Command
		i := slices.Index(command, "--url")
		if i < 0 || !strings.Contains(config, command[i+1]) {
			t.Fatalf("%s runs %v, of which the configuration says nothing", name, command)
		}
		if port := command[slices.Index(command, "--address")+1]; !strings.HasSuffix(command[i+1], port) {
			t.Errorf("%s listens on %s, its URL is %s", name, port, command[i+1])
		}
		cmd := exec.Command(exe, command[0], command[1], "--address", "127.0.0.1:0")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		begin(t, cmd)
		said, err := bufio.NewReader(out).ReadString('\n')
		found := line.FindStringSubmatch(said)
		if err != nil || found == nil {
			t.Fatalf("%s said %q: %v", name, said, err)
		}
		at[name] = found[1]
		config = strings.ReplaceAll(config, command[i+1], found[1])
	}
	newMachine(t, exe).accepts(t, exe, config, nil)

	config, _, _ = strings.Cut(config, "\nstate:")
	listen := free(t)
	for from, to := range map[string]string{
		`":8080"`: listen, "http://localhost:8080": "http://" + listen, "0.0.0.0:9901": "127.0.0.1:0", dataDir: t.TempDir(),
		"  dataDir:": "  statusAddress: \"127.0.0.1:0\"\n  dataDir:",
	} {
		config = strings.ReplaceAll(config, from, to)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	write(t, file, []byte(config))
	gateway := exec.Command(exe, "serve", "-c", file)
	gateway.Stderr = os.Stderr
	begin(t, gateway)
	ask(t, "http://"+listen, at["issuer"])
}

// free is an address that nobody listens on, nor is given for a port 0 meanwhile.
func free(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// ask does what the comment in the file says.
func ask(t *testing.T, gateway, issuer string) {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, issuer+"/token", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("alice", "alice-secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&token); err != nil {
		t.Fatal(err)
	}
	said := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"summarize"}]}}}`
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, gateway+"/agents/billing", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("A2A-Version", "1.0")
		req.Header.Set("Authorization", "Bearer "+token.AccessToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			said = err.Error()
			continue
		}
		answer, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if said = fmt.Sprint(resp.Status, " ", string(answer)); resp.StatusCode == http.StatusOK && strings.Contains(said, "TASK_STATE_COMPLETED") {
			return
		}
	}
	t.Errorf("the gateway answered %s", said)
}
