package check

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	admission "k8s.io/pod-security-admission/api"
	security "k8s.io/pod-security-admission/policy"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// kinds are those that are known; another one in a manifest is an error.
var kinds = map[string]func() meta.Object{
	"v1 ConfigMap":                            func() meta.Object { return &core.ConfigMap{} },
	"v1 Secret":                               func() meta.Object { return &core.Secret{} },
	"v1 Service":                              func() meta.Object { return &core.Service{} },
	"v1 ServiceAccount":                       func() meta.Object { return &core.ServiceAccount{} },
	"v1 PersistentVolumeClaim":                func() meta.Object { return &core.PersistentVolumeClaim{} },
	"v1 Pod":                                  func() meta.Object { return &core.Pod{} },
	"apps/v1 Deployment":                      func() meta.Object { return &apps.Deployment{} },
	"apps/v1 StatefulSet":                     func() meta.Object { return &apps.StatefulSet{} },
	"policy/v1 PodDisruptionBudget":           func() meta.Object { return &policy.PodDisruptionBudget{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() meta.Object { return &autoscaling.HorizontalPodAutoscaler{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() meta.Object { return &networking.NetworkPolicy{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() meta.Object { return &monitoring.ServiceMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule": func() meta.Object { return &monitoring.PrometheusRule{} },
	"cert-manager.io/v1 Certificate":          func() meta.Object { return &certmanager.Certificate{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() meta.Object { return &gateway.HTTPRoute{} },
	"gateway.networking.k8s.io/v1 GRPCRoute":  func() meta.Object { return &gateway.GRPCRoute{} },
}

// objects are those of a release, each read strictly as what it says to be.
type objects struct {
	all  []meta.Object
	kind []string
}

// read adds the objects of a stream of documents.
func (o *objects) read(t *testing.T, name, text string) {
	t.Helper()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var of meta.TypeMeta
		if err := yaml.Unmarshal(doc, &of); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
		if of.Kind == "" && empty(doc) {
			continue
		}
		made := kinds[of.APIVersion+" "+of.Kind]
		if made == nil {
			t.Errorf("%s: %s %s is of no known kind", name, of.APIVersion, of.Kind)
			continue
		}
		object := made()
		if err := yaml.UnmarshalStrict(doc, object); err != nil {
			t.Errorf("%s: %v\n%s", name, err, doc)
		}
		o.all, o.kind = append(o.all, object), append(o.kind, of.Kind)
	}
}

// empty reports whether a document has comments only.
func empty(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

// only is the one object of its type, and of that name unless that is "".
func only[T meta.Object](t *testing.T, o *objects, name string) (found T) {
	t.Helper()
	n := 0
	for _, object := range o.all {
		if typed, ok := object.(T); ok && (name == "" || object.GetName() == name) {
			found = typed
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d objects of %T %s among %v", n, found, name, o.kind)
	}
	return found
}

func count[T meta.Object](o *objects) (n int) {
	for _, object := range o.all {
		if _, ok := object.(T); ok {
			n++
		}
	}
	return n
}

// gatewayPod is the template of the gateway's pods, and how they are selected.
func (o *objects) gatewayPod(t *testing.T) (core.PodTemplateSpec, *meta.LabelSelector) {
	t.Helper()
	for _, object := range o.all {
		switch w := object.(type) {
		case *apps.StatefulSet:
			return w.Spec.Template, w.Spec.Selector
		case *apps.Deployment:
			return w.Spec.Template, w.Spec.Selector
		}
	}
	t.Fatalf("no workload among %v", o.kind)
	panic("unreachable")
}

// check holds the objects against each other.
func (o *objects) check(t *testing.T) {
	t.Helper()
	names := map[string]bool{}
	for i, object := range o.all {
		if key := o.kind[i] + "/" + object.GetName(); names[key] {
			t.Errorf("there are two of %s", key)
		} else {
			names[key] = true
		}
		if len(object.GetName()) == 0 || len(object.GetName()) > 63 {
			t.Errorf("%s has a name of %d characters", o.kind[i], len(object.GetName()))
		}
	}
	template, selector := o.gatewayPod(t)
	o.selected(t, template.Labels, selector)
	o.ports(t, &template.Spec)
	o.volumes(t, &template.Spec)
	restricted(t, &template.ObjectMeta, &template.Spec)
	probes(t, &template.Spec.Containers[0])
	for _, object := range o.all {
		if pod, ok := object.(*core.Pod); ok {
			restricted(t, &pod.ObjectMeta, &pod.Spec)
			for _, service := range o.all {
				if s, ok := service.(*core.Service); ok && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
					t.Errorf("service %s sends calls to pod %s", s.Name, pod.Name)
				}
			}
		}
	}
}

// selected: whatever selects pods selects the gateway's.
func (o *objects) selected(t *testing.T, of map[string]string, own *meta.LabelSelector) {
	t.Helper()
	selectors := map[string]*meta.LabelSelector{"the workload": own}
	for i, object := range o.all {
		key := o.kind[i] + " " + object.GetName()
		switch s := object.(type) {
		case *core.Service:
			selectors[key] = &meta.LabelSelector{MatchLabels: s.Spec.Selector}
		case *policy.PodDisruptionBudget:
			selectors[key] = s.Spec.Selector
		case *networking.NetworkPolicy:
			selectors[key] = &s.Spec.PodSelector
		}
	}
	for who, s := range selectors {
		selector, err := meta.LabelSelectorAsSelector(s)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(of)) {
			t.Errorf("%s selects %v, which is not %v: %v", who, selector, of, err)
		}
	}
}

// ports: a service leads to ports that the gateway has.
func (o *objects) ports(t *testing.T, pod *core.PodSpec) {
	t.Helper()
	have := map[string]bool{}
	for _, p := range pod.Containers[0].Ports {
		have[p.Name] = true
	}
	for _, object := range o.all {
		if s, ok := object.(*core.Service); ok {
			for _, p := range s.Spec.Ports {
				if !have[p.TargetPort.StrVal] {
					t.Errorf("service %s leads to the port %q, and there are %v", s.Name, p.TargetPort.StrVal, have)
				}
			}
		}
	}
}

// volumes: each mount has one, each one is mounted, and what they are made of is here, or a
// secret that somebody brings.
func (o *objects) volumes(t *testing.T, pod *core.PodSpec) {
	t.Helper()
	have := map[string]bool{}
	for _, v := range pod.Volumes {
		have[v.Name] = true
		if v.ConfigMap != nil && !strings.HasPrefix(v.ConfigMap.Name, "hooks") {
			only[*core.ConfigMap](t, o, v.ConfigMap.Name)
		}
		if v.PersistentVolumeClaim != nil {
			only[*core.PersistentVolumeClaim](t, o, v.PersistentVolumeClaim.ClaimName)
		}
	}
	for _, object := range o.all {
		if s, ok := object.(*apps.StatefulSet); ok {
			for _, claim := range s.Spec.VolumeClaimTemplates {
				have[claim.Name] = true
			}
		}
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !have[m.Name] {
			t.Errorf("%s is mounted from %q, which is no volume", m.MountPath, m.Name)
		}
		if m.ReadOnly == (m.MountPath == dataDir) {
			t.Errorf("%s: read-only is %v", m.MountPath, m.ReadOnly)
		}
		delete(have, m.Name)
	}
	if len(have) > 0 {
		t.Errorf("volumes %v are mounted nowhere", have)
	}
}

// restricted: the pod passes the strictest of the Pod Security Standards, whose own code
// judges it, and its file system is read-only beside.
func restricted(t *testing.T, m *meta.ObjectMeta, pod *core.PodSpec) {
	t.Helper()
	judge, err := security.NewEvaluator(security.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := admission.LevelVersion{Level: admission.LevelRestricted, Version: admission.LatestVersion()}
	if said := security.AggregateCheckResults(judge.EvaluatePod(level, m, pod)); !said.Allowed {
		t.Errorf("not restricted: %s", said.ForbiddenDetail())
	}
	for i := range pod.Containers {
		s := pod.Containers[i].SecurityContext
		if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
			t.Errorf("%s may write to its root", pod.Containers[i].Name)
		}
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("the pod has a token of the cluster")
	}
}

// probes fit what the status listener serves.
func probes(t *testing.T, c *core.Container) {
	t.Helper()
	for path, p := range map[string]*core.Probe{"/livez": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != path || p.HTTPGet.Port.StrVal != "status" {
			t.Errorf("probe %+v, want %s on the status port", p, path)
		}
	}
	if c.StartupProbe == nil || c.StartupProbe.HTTPGet.Path != "/livez" {
		t.Errorf("startup probe %+v", c.StartupProbe)
	}
	i := slices.IndexFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == "status" })
	if i < 0 || c.Ports[i].ContainerPort != 9902 {
		t.Errorf("ports %+v", c.Ports)
	}
}
