package config

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

const (
	manifestPath = "../../deploy/kubernetes/a2a-gateway.yaml"
	unitPath     = "../../deploy/systemd/a2a-gateway.service"
	dockerPath   = "../../deploy/Dockerfile"
)

// manifest is what the tests look at in Kubernetes objects.
type manifest struct {
	Kind string
	Data map[string]string
	Spec struct {
		Replicas int
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []container
			}
		}
	}
}

type container struct {
	Image     string
	Args      []string
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Ports []struct {
		Name string
		Port int `yaml:"containerPort"`
	}
	Mounts         []mount `yaml:"volumeMounts"`
	StartupProbe   probe   `yaml:"startupProbe"`
	LivenessProbe  probe   `yaml:"livenessProbe"`
	ReadinessProbe probe   `yaml:"readinessProbe"`
}

type mount struct {
	Path     string `yaml:"mountPath"`
	ReadOnly bool   `yaml:"readOnly"`
}

type probe struct {
	Get struct{ Path, Port string } `yaml:"httpGet"`
}

// manifests returns the objects of a file by kind.
func manifests(t *testing.T, path string) map[string]manifest {
	t.Helper()
	loader, err := yaml.NewLoader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]manifest{}
	for {
		var m manifest
		switch err := loader.Load(&m); {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			t.Fatal(err)
		}
		found[m.Kind] = m
	}
}

// TestKubernetesManifest compares the deployment with the configuration in it.
func TestKubernetesManifest(t *testing.T) {
	t.Parallel()
	objects := manifests(t, manifestPath)
	c, err := Parse("config.yaml", []byte(objects["ConfigMap"].Data["config.yaml"]), environment)
	if err != nil {
		t.Fatal(err)
	}
	spec := objects["StatefulSet"].Spec
	pod := spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	box := pod.Containers[0]
	if got := strings.Join(box.Args, " "); got != "serve -c /etc/a2a-gateway/config.yaml" {
		t.Errorf("arguments %q", got)
	}
	ports := map[string]int{}
	for _, p := range box.Ports {
		ports[p.Name] = p.Port
	}
	if ports["https"] != port(t, c.Server.Address) || ports["status"] != port(t, c.Server.StatusAddress) {
		t.Errorf("ports %v, configuration %s and %s", ports, c.Server.Address, c.Server.StatusAddress)
	}
	for want, p := range map[string]probe{"/livez": box.LivenessProbe, "/readyz": box.ReadinessProbe} {
		if p.Get.Path != want || p.Get.Port != "status" {
			t.Errorf("probe %+v, want %s on the status port", p, want)
		}
	}
	wait := time.Duration(box.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if drain := c.Server.Timeouts.Drain.Std(); time.Duration(pod.Grace)*time.Second <= wait+drain || wait == 0 {
		t.Errorf("the grace period of %d s is not longer than waiting, %s, and draining, %s", pod.Grace, wait, drain)
	}
	if c.Server.Timeouts.LameDuck == 0 {
		t.Error("calls that come after TERM are refused")
	}
	if !regexp.MustCompile(`:\d+\.\d+\.\d+$`).MatchString(box.Image) {
		t.Errorf("the image %s may be another tomorrow", box.Image)
	}
	if c.State.Driver == "" && spec.Replicas != 1 {
		t.Errorf("%d replicas with ownership in memory", spec.Replicas)
	}
	pair := c.Server.TLS.Certificates[0]
	for path, writable := range map[string]bool{
		"/etc/a2a-gateway/config.yaml": false, pair.Cert: false, pair.Key: false,
		c.Authn.APIKeys.File: false, filepath.Join(c.Server.DataDir, "audit"): true,
	} {
		if !mounted(box.Mounts, path, writable) {
			t.Errorf("%s (writable: %v) is in no mount of %+v", path, writable, box.Mounts)
		}
	}
}

// mounted reports whether path is on a mount of its own kind.
func mounted(mounts []mount, path string, writable bool) bool {
	for _, m := range mounts {
		if filepath.Dir(path) == m.Path && m.ReadOnly != writable {
			return true
		}
	}
	return false
}

func port(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSystemdUnit compares the unit with the defaults it relies on.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	unit := map[string]string{}
	for line := range strings.Lines(string(read(t, unitPath))) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			unit[key] = value
		}
	}
	for key, want := range map[string]string{
		"ExecStart":      "/usr/bin/a2a-gateway serve -c /etc/a2a-gateway/config.yaml",
		"ExecStartPre":   "/usr/bin/a2a-gateway validate -c /etc/a2a-gateway/config.yaml",
		"ExecReload":     "/bin/kill -HUP $MAINPID",
		"StateDirectory": "a2a-gateway",
	} {
		if unit[key] != want {
			t.Errorf("%s=%s, want %s", key, unit[key], want)
		}
	}
	var c Config
	c.Server.Defaults()
	if stop, err := strconv.Atoi(unit["TimeoutStopSec"]); err != nil ||
		time.Duration(stop)*time.Second <= c.Server.Timeouts.Drain.Std() {
		t.Errorf("TimeoutStopSec=%s is not longer than draining, %s", unit["TimeoutStopSec"], c.Server.Timeouts.Drain)
	}
	if files, err := strconv.Atoi(unit["LimitNOFILE"]); err != nil || files < 2*c.Server.Limits.Connections {
		t.Errorf("LimitNOFILE=%s is less than two for each of %d connections", unit["LimitNOFILE"],
			c.Server.Limits.Connections)
	}
}

// TestDockerfile compares the image with the defaults and with go.mod.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	docker, module := string(read(t, dockerPath)), string(read(t, "../../go.mod"))
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(module)
	if version == nil || !strings.Contains(docker, "FROM --platform=$BUILDPLATFORM golang:"+version[1]+" ") {
		t.Errorf("the image is not built with the Go of go.mod, %v", version)
	}
	var c Config
	c.Server.TLS = parsed(t, "with-tls").Server.TLS
	c.Server.Defaults()
	expose := "EXPOSE " + strconv.Itoa(port(t, c.Server.Address)) + " " + strconv.Itoa(port(t, c.Server.StatusAddress)) + "\n"
	for _, want := range []string{expose, `CMD ["serve", "-c", "/etc/a2a-gateway/config.yaml"]`, "USER 65532",
		":nonroot\n", "GOARCH=$TARGETARCH", "COPY --from=build /licenses /licenses\n"} {
		if !strings.Contains(docker, want) {
			t.Errorf("Dockerfile lacks %q", want)
		}
	}
}

// TestReadmeConfiguration makes sure that the file in README.md is one.
func TestReadmeConfiguration(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok || strings.Count(block, "\n") > 12 {
		t.Fatalf("no short YAML block in README.md: %q", block)
	}
	if _, err := Parse("README.md", []byte(block), environment); err != nil {
		t.Error(err)
	}
}
