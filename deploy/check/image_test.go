package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// workshop builds images without a daemon and keeps them in directories of its own. Commands
// in images share this machine's network, and its Go, whose caches they may use.
type workshop struct {
	t      *testing.T
	binary string
	flags  []string
	dir    string
}

// newWorkshop has stand-ins for the images that the Dockerfile builds on, which registries
// have that tests cannot ask: one with a shell and Go, one with next to nothing.
func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	binary, shell := required(t, "buildah", "buildah"), required(t, "busybox", "busybox-static")
	if os.Getuid() != 0 {
		t.Skip("images are built as root") // as which CI runs
	}
	w := &workshop{t: t, binary: binary, dir: t.TempDir()}
	w.flags = []string{"--root", w.dir + "/root", "--runroot", w.dir + "/run", "--storage-driver", "vfs"}
	text, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{"go/bin/sh": text, "go/tmp/.keep": nil, "static/tmp/.keep": nil} {
		if err := os.MkdirAll(filepath.Dir(w.dir+"/"+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.dir+"/"+path, content, 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mkdir", "cp"} {
		if err := os.Symlink("sh", w.dir+"/go/bin/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]string{
		"docker.io/library/golang:1.26":             "go",
		"gcr.io/distroless/static-debian12:nonroot": "static",
	} {
		file := filepath.Join(w.dir, of+".Dockerfile")
		text := "FROM scratch\nCOPY " + of + " /\nENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOCACHE=/cache\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.do("bud", "-f", file, "-t", name, w.dir)
	}
	return w
}

// do is what a command of buildah prints.
func (w *workshop) do(command string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(w.binary, slices.Concat(w.flags, []string{command}, args)...) //nolint:gosec // arguments of tests
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("buildah %s %q: %v\n%s\n%s", command, args, err, out, log.String())
	}
	return strings.TrimSpace(string(out))
}

// build builds the image of the Dockerfile for a platform, and is its id.
func (w *workshop) build(version, platform string) string {
	w.t.Helper()
	source, err := filepath.Abs(root)
	if err != nil {
		w.t.Fatal(err)
	}
	args := []string{
		"--isolation", "chroot", "--format", "docker", "--pull-never", "--quiet", "--timestamp", "1767225600",
		"--platform", platform, "--build-arg", "VERSION=" + version, "-f", source + "/deploy/Dockerfile", "--ignorefile", source + "/deploy/Dockerfile.dockerignore",
	}
	if certs := "/etc/ssl/certs"; isDir(certs) { // what is not in the cache is fetched
		args = append(args, "-v", certs+":"+certs+":ro")
	}
	mounts := map[string]string{"GOROOT": "/usr/local/go:ro", "GOMODCACHE": "/go/pkg/mod", "GOCACHE": "/cache"}
	for _, name := range slices.Sorted(maps.Keys(mounts)) {
		out, err := exec.Command("go", "env", name).Output() //nolint:gosec // one of three
		if err != nil {
			w.t.Fatal(err)
		}
		args = append(args, "-v", strings.TrimSpace(string(out))+":"+mounts[name])
	}
	return w.do("bud", append(args, "-t", "a2a-gateway:"+version, source)...)
}

// image is what an image says of itself.
type image struct {
	Config struct {
		User         string
		Entrypoint   []string
		Cmd          []string
		ExposedPorts map[string]any
		Healthcheck  struct{ Test []string }
		Labels       map[string]string
	} `json:"config"`
	RootFS struct {
		Layers []string `json:"diff_ids"`
	} `json:"rootfs"`
}

func (w *workshop) look(id string) image {
	w.t.Helper()
	var doc struct{ Docker image }
	if err := json.Unmarshal([]byte(w.do("inspect", "--type", "image", id)), &doc); err != nil {
		w.t.Fatal(err)
	}
	if len(doc.Docker.RootFS.Layers) == 0 {
		w.t.Fatalf("%s has no layers", id)
	}
	return doc.Docker
}

// TestImage: the Dockerfile builds an image, of the same files each time, which runs as nobody in
// particular, has what it says, and takes calls.
func TestImage(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	id := w.build("v1.2.3", "linux/amd64")
	image := w.look(id)
	if again := w.look(w.build("v1.2.3", "linux/amd64")); !slices.Equal(again.RootFS.Layers, image.RootFS.Layers) {
		t.Errorf("built twice it has %s and %s", image.RootFS.Layers, again.RootFS.Layers)
	}
	c := image.Config
	said := fmt.Sprint(c.User, c.Entrypoint, c.Cmd, slices.Sorted(maps.Keys(c.ExposedPorts)), c.Healthcheck.Test, c.Labels["org.opencontainers.image.version"])
	if want := "65532:65532[/a2a-gateway] [serve -c /etc/a2a-gateway/config.yaml] [8443/tcp 9902/tcp] [CMD /a2a-gateway healthcheck]v1.2.3"; said != want {
		t.Errorf("it says %s, want %s", said, want)
	}

	box := w.do("from", "--pull-never", "a2a-gateway:v1.2.3")
	place := w.do("mount", box)
	for _, name := range []string{"licenses/LICENSE", "licenses/NOTICES"} {
		if info, err := os.Stat(filepath.Join(place, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.serve(box)
	kept, err := os.ReadDir(filepath.Join(place, "var/lib/a2a-gateway"))
	if err != nil || len(kept) == 0 {
		t.Errorf("nothing is kept: %v", err)
	}
	for _, entry := range kept {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 65532 {
			t.Errorf("%s belongs to somebody else: %+v", entry.Name(), info.Sys())
		}
	}
}

// serve runs the gateway in a container as it is started there, until it has answered.
func (w *workshop) serve(box string) {
	w.t.Helper()
	config, address := filepath.Join(w.dir, "config.yaml"), freeAddress(w.t)
	text := fmt.Sprintf("server: {address: \"127.0.0.1:0\", statusAddress: %q, publicURL: \"http://gateway.example\"}\nadmin: {address: \"127.0.0.1:0\"}\nauthn: {anonymous: true}\nagents: []\n", address)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil { //nolint:gosec // for whoever the container runs as
		w.t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		mount := []string{"run", "--isolation", "chroot", "-v", config + ":/etc/a2a-gateway/config.yaml:ro", box, "--", "/a2a-gateway"}
		return exec.Command(w.binary, slices.Concat(w.flags, mount, args)...) //nolint:gosec // arguments of this test
	}
	if out, err := run("version").CombinedOutput(); err != nil || !strings.Contains(string(out), "v1.2.3") {
		w.t.Errorf("version: %s, %v", out, err)
	}
	served := run("serve", "-c", "/etc/a2a-gateway/config.yaml")
	var log strings.Builder
	served.Stdout, served.Stderr = &log, &log
	if err := served.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- served.Wait() }()
	w.t.Cleanup(func() { _ = served.Process.Kill() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get("http://" + address + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case err := <-ended:
			w.t.Fatalf("it ended: %v\n%s", err, log.String())
		default:
		}
		if time.Now().After(end) {
			w.t.Fatalf("it does not get ready\n%s", log.String())
		}
	}
	if out, err := run("healthcheck", "--url", "http://"+address+"/readyz").CombinedOutput(); err != nil {
		w.t.Errorf("healthcheck: %s, %v", out, err)
	}
	if err := served.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		w.t.Error("it does not end")
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
