package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// propagation is how long nodes and balancers go on sending calls to a pod that ends: longer
// than the chart's preStop, so that some come after TERM.
const propagation = 7 * time.Second

// cluster runs the pods of a release as processes, and replaces them as a StatefulSet does.
type cluster struct {
	t         *testing.T
	exe       string
	set       *apps.StatefulSet
	config    string
	secrets   machine
	pods      []*pod
	endpoints atomic.Pointer[[]string] // of the service, as nodes know them
}

type pod struct {
	name, public, status, data string
	process                    *exec.Cmd
	ended                      chan error
	log                        bytes.Buffer
}

func newCluster(t *testing.T, o *objects) *cluster {
	t.Helper()
	c := &cluster{t: t, exe: program(t), set: only[*apps.StatefulSet](t, o, "")}
	c.config = only[*core.ConfigMap](t, o, c.set.Spec.Template.Spec.Volumes[0].ConfigMap.Name).Data[configFile]
	c.secrets = newMachine(t, c.exe, "/etc/a2a-gateway-keys/keys.yaml", "/etc/a2a-gateway-own-keys/signing.pem", "/etc/a2a-gateway-own-keys/sealing.key")
	for i := range int(*c.set.Spec.Replicas) {
		p := &pod{name: fmt.Sprintf("%s-%d", c.set.Name, i), public: freeAddress(t), status: freeAddress(t), data: t.TempDir()}
		c.pods = append(c.pods, p)
		c.start(p)
	}
	t.Cleanup(func() {
		for _, p := range c.pods {
			_ = p.process.Process.Kill()
			<-p.ended
			if t.Failed() {
				t.Logf("%s:\n%s", p.name, &p.log)
			}
		}
	})
	c.publish(nil)
	return c
}

// start runs the container of a pod, and waits for its probe, by the name of the service that the
// status port has.
func (c *cluster) start(p *pod) {
	c.t.Helper()
	config := strings.NewReplacer(`:8080`, p.public, `:9902`, p.status, dataDir, p.data, "/etc/", c.secrets.dir+"/etc/").Replace(c.config)
	file := filepath.Join(p.data, "config.yaml")
	write(c.t, file, []byte(config))
	p.process = exec.Command(c.exe, "serve", "-c", file)
	p.process.Env = []string{"HOME=" + p.data}
	for _, e := range c.set.Spec.Template.Spec.Containers[0].Env {
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name" {
			p.process.Env = append(p.process.Env, e.Name+"="+p.name)
		}
	}
	p.process.Stdout, p.process.Stderr = &p.log, &p.log
	if err := p.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.process.Wait(); close(p.ended) }()
	host := c.set.Spec.ServiceName + ".gateways.svc.cluster.local:9902"
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if status, _ := probed("http://"+p.status+"/readyz", host); status == http.StatusOK {
			return
		}
	}
	c.t.Fatalf("%s is not ready:\n%s", p.name, &p.log)
}

// probed is what a probe does.
func probed(url, host string) (int, string) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, ""
	}
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// publish has nodes know all pods but one.
func (c *cluster) publish(but *pod) {
	var all []string
	for _, p := range c.pods {
		if p != but {
			all = append(all, p.public)
		}
	}
	c.endpoints.Store(&all)
}

// replace ends a pod as the kubelet does, while nodes have still to hear of it, and starts the
// next in its place.
func (c *cluster) replace(p *pod) {
	c.t.Helper()
	box, grace := &c.set.Spec.Template.Spec.Containers[0], *c.set.Spec.Template.Spec.TerminationGracePeriodSeconds
	deadline := time.After(time.Duration(grace) * time.Second)
	heard := time.AfterFunc(propagation, func() { c.publish(p) })
	if l := box.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		time.Sleep(time.Duration(l.PreStop.Sleep.Seconds) * time.Second)
	}
	if err := p.process.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			c.t.Errorf("%s ended with %v", p.name, err)
		}
	case <-deadline:
		c.t.Fatalf("%s was killed, and its calls with it", p.name)
	}
	if heard.Stop() {
		c.publish(p)
	}
	c.start(p)
	c.publish(nil)
}

// call sends one message through the service, to whichever pod a connection comes to.
func call(client *http.Client, key, text string) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"%d","role":"ROLE_USER","parts":[{"text":%q}]}}}`,
		rand.Uint64(), text)
	r, err := http.NewRequest(http.MethodPost, "http://agents.example.com/agents/billing", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}, "X-Api-Key": {key}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(said), `"result"`) {
		return fmt.Errorf("%s: %s: %w", answer.Status, said, err)
	}
	return nil
}

var requestID = regexp.MustCompile(`"id":\s*1\b`)

// echo is an agent that answers at once, or when it is told "slow" after two seconds.
func echo(t *testing.T) string {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"billing","description":"d","version":"1","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC",`+
				`"protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
				`"skills":[{"id":"s","name":"s","description":"d","tags":["t"]}]}`, server.URL)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !requestID.Match(body) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if bytes.Contains(body, []byte("slow")) {
			time.Sleep(2 * time.Second)
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/.well-known/agent-card.json"
}

// TestChartRollsUnderLoad renders a release, runs its pods, and replaces one after the other with
// what the chart has of its own for it, under callers who open connections, keep them, and wait for
// slow answers: none of them notices.
func TestChartRollsUnderLoad(t *testing.T) {
	t.Parallel()
	redis, address := required(t, "redis-server", "redis-server"), freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command(redis, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	o := release(t, map[string]any{
		"replicaCount": 2, "tls": map[string]any{"enabled": false}, "persistence": map[string]any{"enabled": false},
		"apiKeys": map[string]any{"existingSecret": "api-keys"}, "keys": map[string]any{"existingSecret": "keys"},
		"redis": map[string]any{"enabled": true, "addresses": []any{address}},
		"config": map[string]any{
			"server": map[string]any{"publicURL": "https://agents.example.com"}, "admin": map[string]any{"address": "off"}, "telemetry": map[string]any{"logs": map[string]any{"level": "warn"}},
			"policy": map[string]any{"rules": []any{map[string]any{"name": "all", "effect": "allow"}}},
			"agents": []any{map[string]any{"id": "billing", "card": echo(t)}},
		},
	})
	c := newCluster(t, o)
	key, err := exec.Command(c.exe, "keys", "create", "--file", c.secrets.dir+"/etc/a2a-gateway-keys/keys.yaml", "--id", "load").Output()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // for the gateways to take it up
	stop, calls, failed := make(chan struct{}), atomic.Int64{}, atomic.Int64{}
	var callers sync.WaitGroup
	for n := range 6 {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			all := *c.endpoints.Load()
			return (&net.Dialer{}).DialContext(ctx, "tcp", all[rand.IntN(len(all))])
		}
		client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: n%2 == 0}}
		text := map[bool]string{true: "slow", false: "hello"}[n >= 4]
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				calls.Add(1)
				if err := call(client, strings.TrimSpace(string(key)), text); err != nil && failed.Add(1) <= 5 {
					t.Errorf("%v", err)
				}
			}
		})
	}
	for i := len(c.pods) - 1; i >= 0; i-- {
		c.replace(c.pods[i])
	}
	close(stop)
	callers.Wait()
	c.alike()
	if n := calls.Load(); n < 200 || failed.Load() > 0 {
		t.Errorf("%d of %d calls failed", failed.Load(), n)
	}
}

// alike: pods have an id each, and else one configuration, as metrics tell.
func (c *cluster) alike() {
	c.t.Helper()
	hash := regexp.MustCompile(`(?m)^a2a_gateway_config_hash .+$`)
	var first string
	for _, p := range c.pods {
		_, metrics := probed("http://"+p.status+"/metrics", p.status)
		if first == "" {
			first = hash.FindString(metrics)
		}
		if got := hash.FindString(metrics); got == "" || got != first {
			c.t.Errorf("%s has %q, another pod %q", p.name, got, first)
		}
		records, err := exec.Command(c.exe, "audit", "query", "--dir", p.data+"/audit", "--output", "json").Output()
		if err != nil || !bytes.Contains(records, []byte(`"`+p.name+`"`)) {
			c.t.Errorf("no record says that it is of %s: %v", p.name, err)
		}
	}
}
