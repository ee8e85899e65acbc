package check

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartDir   = root + "/deploy/helm/a2a-gateway"
	dataDir    = "/var/lib/a2a-gateway"
	configDir  = "/etc/a2a-gateway"
	configFile = "config.yaml"
)

// values of a file; "" has the chart's own.
func values(t *testing.T, path string) map[string]any {
	t.Helper()
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string]any{}
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// render is what `helm template` does.
func render(t *testing.T, v map[string]any) (map[string]string, error) {
	t.Helper()
	c, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return rendered(c, v, "v1.34.0")
}

// rendered for a cluster of that version.
func rendered(c *chart.Chart, v map[string]any, cluster string) (map[string]string, error) {
	release := common.ReleaseOptions{Name: "prod", Namespace: "gateways", IsInstall: true, Revision: 1}
	can := common.DefaultCapabilities.Copy()
	can.KubeVersion.Version = cluster
	all, err := util.ToRenderValues(c, v, release, can)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}

func release(t *testing.T, v map[string]any) *objects {
	t.Helper()
	files, err := render(t, v)
	if err != nil {
		t.Fatal(err)
	}
	o := &objects{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(name) == ".yaml" {
			o.read(t, name, files[name])
		}
	}
	return o
}

// TestChart: with the chart's own values and those of each file, Helm finds nothing to
// object to, the objects are what they say and fit together, and the gateway accepts the
// configuration that it gets.
func TestChart(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/values/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range append(files, "") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			v := values(t, file)
			for _, m := range lint.RunAll(chartDir, v, "gateways").Messages {
				if m.Severity >= support.WarningSev {
					t.Errorf("lint: %s: %v", m.Path, m.Err)
				}
			}
			o := release(t, v)
			o.check(t)
			o.configured(t)
		})
	}
}

// configured: the program accepts the configuration, and the paths in it are mounted.
func (o *objects) configured(t *testing.T) {
	t.Helper()
	template, _ := o.gatewayPod(t)
	box := &template.Spec.Containers[0]
	if got := strings.Join(box.Args, " "); got != "serve -c "+configDir+"/"+configFile {
		t.Errorf("arguments %q", got)
	}
	config := only[*core.ConfigMap](t, o, template.Spec.Volumes[0].ConfigMap.Name).Data[configFile]
	var prefixes, paths []string
	for _, m := range box.VolumeMounts {
		if m.MountPath != configDir {
			prefixes = append(prefixes, m.MountPath+"/")
		}
	}
	for _, word := range strings.Fields(config) {
		word = strings.Trim(word, `[]{},"'`)
		if strings.HasPrefix(word, "/") && word != dataDir {
			paths = append(paths, word)
			if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(word, p) }) {
				t.Errorf("%s is in no mount of %v", word, prefixes)
			}
		}
	}
	var env []string
	for _, e := range box.Env {
		env = append(env, e.Name+"=something")
	}
	exe := program(t)
	newMachine(t, exe, paths...).accepts(t, exe, config, prefixes, env...)
	var parsed struct {
		Server struct {
			Address  string
			Timeouts struct{ Drain, LameDuck string }
		}
	}
	if err := yaml.Unmarshal([]byte(config), &parsed); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(":%d", box.Ports[0].ContainerPort); parsed.Server.Address != want {
		t.Errorf("address %s, port %s", parsed.Server.Address, want)
	}
	var wait time.Duration
	if l := box.Lifecycle; l != nil {
		wait = time.Duration(l.PreStop.Sleep.Seconds) * time.Second
	}
	if parsed.Server.Timeouts.LameDuck == "" || wait == 0 {
		t.Errorf("calls that come while a pod ends are refused: lameDuck %q, preStop %s", parsed.Server.Timeouts.LameDuck, wait)
	}
	drain := 30 * time.Second
	if d, err := time.ParseDuration(parsed.Server.Timeouts.Drain); err == nil {
		drain = d
	}
	if grace := *template.Spec.TerminationGracePeriodSeconds; time.Duration(grace)*time.Second <= wait+drain {
		t.Errorf("the grace period of %d s is not longer than waiting, %s, and draining, %s", grace, wait, drain)
	}
}

// TestChartRefuses: what would not work is refused before it is installed, in words that
// name it: the first line of each file.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/refused/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			want := strings.TrimPrefix(line, "# ")
			if _, err := render(t, values(t, file)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// TestChartForOlderClusters: what they refuse to know is not asked of them.
func TestChartForOlderClusters(t *testing.T) {
	t.Parallel()
	c, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := rendered(c, nil, "v1.29.5")
	if err != nil {
		t.Fatal(err)
	}
	set := files["a2a-gateway/templates/statefulset.yaml"]
	if strings.Contains(set, "lifecycle") || !strings.Contains(set, "terminationGracePeriodSeconds: 40") {
		t.Errorf("asks for a sleep:\n%s", set)
	}
}

// TestChartRollsOut: pods are replaced when the configuration has changed, and only then;
// where the gateways reload it themselves, not even then.
func TestChartRollsOut(t *testing.T) {
	t.Parallel()
	sum := func(rollout bool, agents string) string {
		v := map[string]any{"rolloutOnConfigChange": rollout, "config": map[string]any{"agents": []any{map[string]any{"id": agents, "card": "http://a/"}}}}
		template, _ := release(t, v).gatewayPod(t)
		return template.Annotations["checksum/config"]
	}
	if a, b, again := sum(true, "billing"), sum(true, "weather"), sum(true, "billing"); a == "" || a == b || a != again {
		t.Errorf("checksums %q, %q, %q", a, b, again)
	}
	if s := sum(false, "billing"); s != "" {
		t.Errorf("checksum %q", s)
	}
}

// TestChartForFleets: what replicas need is there.
func TestChartForFleets(t *testing.T) {
	t.Parallel()
	o := release(t, values(t, "testdata/values/fleet.yaml"))
	set := only[*apps.StatefulSet](t, o, "")
	if set.Spec.Replicas != nil {
		t.Error("the number of replicas is the autoscaler's")
	}
	scaler := only[*autoscaling.HorizontalPodAutoscaler](t, o, "")
	if to := scaler.Spec.ScaleTargetRef; to.Kind != "StatefulSet" || to.Name != set.Name {
		t.Errorf("it scales %+v", to)
	}
	metrics := metricNames(t)
	for _, m := range scaler.Spec.Metrics {
		if !strings.Contains(metrics, "`"+m.Pods.Metric.Name+"`") {
			t.Errorf("there is no metric %s", m.Pods.Metric.Name)
		}
	}
	only[*policy.PodDisruptionBudget](t, o, "")
	if n := count[*core.Secret](o); n != 0 {
		t.Errorf("%d secrets although all are brought", n)
	}
	rules := only[*monitoring.PrometheusRule](t, o, "")
	if want := strings.Count(text(t, root+"/deploy/prometheus/rules.yml"), "- alert:"); want == 0 || alerts(rules) != want {
		t.Errorf("%d alerts of %d", alerts(rules), want)
	}
	boards, err := filepath.Glob(root + "/deploy/grafana/*.json")
	if err != nil || len(boards) == 0 {
		t.Fatal(err)
	}
	for _, file := range boards {
		name := filepath.Base(file)
		board := only[*core.ConfigMap](t, o, "prod-a2a-gateway-"+strings.TrimSuffix(name, ".json"))
		if board.Data[name] != text(t, file) || board.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s is not the dashboard %s", board.Name, name)
		}
	}
	lets := only[*networking.NetworkPolicy](t, o, "")
	if !slices.ContainsFunc(lets.Spec.Egress, func(r networking.NetworkPolicyEgressRule) bool {
		return len(r.To) == 0 && slices.ContainsFunc(r.Ports, func(p networking.NetworkPolicyPort) bool { return p.Port.IntValue() == 6379 })
	}) {
		t.Errorf("Redis cannot be reached: %+v", lets.Spec.Egress)
	}
	service := only[*core.Service](t, o, set.Spec.ServiceName)
	if service.Spec.ClusterIP != core.ClusterIPNone || !service.Spec.PublishNotReadyAddresses {
		t.Errorf("the service of the set is %+v", service.Spec)
	}
}

// scraped are the labels of a target that a ServiceMonitor makes of a pod behind a service, as
// Prometheus' operator does: relabelings come last. Those that are not of one kind only are left out.
func scraped(t *testing.T, o *objects) map[string]string {
	t.Helper()
	monitor, set := only[*monitoring.ServiceMonitor](t, o, ""), only[*apps.StatefulSet](t, o, "")
	service := only[*core.Service](t, o, set.Spec.ServiceName)
	endpoint := monitor.Spec.Endpoints[0]
	made := map[string]string{
		"namespace": "gateways", "service": service.Name, "job": service.Name, "endpoint": endpoint.Port,
		"container": set.Spec.Template.Spec.Containers[0].Name, "pod": set.Name + "-0",
	}
	if name := monitor.Spec.JobLabel; name != "" {
		made["job"] = service.Labels[name]
	}
	for _, r := range endpoint.RelabelConfigs {
		if r.Replacement != nil && len(r.SourceLabels) == 0 {
			made[r.TargetLabel] = *r.Replacement
		}
	}
	return made
}

// TestChartIsWatched: the alerts about gateways themselves are tried with the labels that the
// chart's ServiceMonitor makes, and name the job that it makes, whatever the release is called.
func TestChartIsWatched(t *testing.T) {
	t.Parallel()
	rules, cases := text(t, root+"/deploy/prometheus/rules.yml"), text(t, root+"/deploy/prometheus/alerts_test.yml")
	for _, name := range []string{"", "edge"} {
		v := map[string]any{"serviceMonitor": map[string]any{"enabled": true}, "nameOverride": name}
		made := scraped(t, release(t, v))
		if !strings.Contains(rules, `up{job="`+made["job"]+`"} == 0`) {
			t.Errorf("no alert looks at the job %q", made["job"])
		}
		if name != "" {
			continue
		}
		made["namespace"] = "agents" // as the release of the cases, which is called gateway
		for name, value := range made {
			value = strings.ReplaceAll(value, "prod", "gateway")
			for _, metric := range []string{"up", "a2a_gateway_config_hash"} {
				if !regexp.MustCompile(metric + `\{[^}]*\b` + name + `="` + regexp.QuoteMeta(value) + `"`).MatchString(cases) {
					t.Errorf("no case has a %s with %s=%q", metric, name, value)
				}
			}
		}
	}
}

func alerts(r *monitoring.PrometheusRule) (n int) {
	for _, group := range r.Spec.Groups {
		for i := range group.Rules {
			if group.Rules[i].Alert != "" {
				n++
			}
		}
	}
	return n
}

// metricNames is the list of metrics that docs/metrics.md is.
func metricNames(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
