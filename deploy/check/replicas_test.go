package check

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"sigs.k8s.io/yaml"
)

// TestReplicasByHelm: the chart takes the values that docs/recipes/two-replicas.md gives, and the gateway the
// configuration that comes of them.
func TestReplicasByHelm(t *testing.T) {
	t.Parallel()
	page := text(t, root+"/docs/recipes/two-replicas.md")
	_, rest, found := strings.Cut(page, "```yaml values.yaml\n")
	block, _, closed := strings.Cut(rest, "```")
	v := map[string]any{}
	if err := yaml.Unmarshal([]byte(block), &v); err != nil || !found || !closed {
		t.Fatalf("values of the page: %v\n%s", err, block)
	}
	for _, m := range lint.RunAll(chartDir, v, "gateways").Messages {
		if m.Severity >= support.WarningSev {
			t.Errorf("lint: %s: %v", m.Path, m.Err)
		}
	}
	o := release(t, v)
	o.check(t)
	o.configured(t)
}

// TestComposeReplicas: both gateways serve one configuration, which the program accepts, differ in their id
// alone, and are those that HAProxy has.
func TestComposeReplicas(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{root + "/deploy/compose.replicas.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range p.Services {
		closed(t, name, &s)
	}
	balancer := p.Services["balancer"]
	haproxy := text(t, mounted(t, &balancer, "/usr/local/etc/haproxy/haproxy.cfg"))
	exe := program(t)
	for _, name := range []string{"one", "two"} {
		g := p.Services[name]
		if id := g.Environment["REPLICA"]; id == nil || *id != name {
			t.Errorf("%s: its id is %v", name, id)
		}
		if time.Duration(*g.StopGracePeriod) <= 30*time.Second {
			t.Errorf("%s is killed %s after it was asked to drain, which takes 30 s", name, g.StopGracePeriod)
		}
		if !strings.Contains(haproxy, "server "+name+" "+name+":8080 port 9902") {
			t.Errorf("HAProxy does not know %s", name)
		}
		config := text(t, mounted(t, &g, "/etc/a2a-gateway/config.yaml"))
		newMachine(t, exe).accepts(t, exe, config, nil, "REPLICA="+name)
	}
	if base := filepath.Base(balancer.Volumes[0].Source); base != "haproxy.cfg" {
		t.Errorf("HAProxy reads %s", base)
	}
}
