package check

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"sigs.k8s.io/yaml"
)

const unit = "/usr/lib/systemd/system/a2a-gateway.service"

// releaseConfig is what is read of .goreleaser.yaml here.
type releaseConfig struct {
	NFPMs    []map[string]any `json:"nfpms"`
	Archives []struct {
		Files []any // a path, or src and dst
	}
	Casks []struct {
		Binaries, Manpages []string
		Completions        map[string]string
		CustomBlock        string `json:"custom_block"`
	} `json:"homebrew_casks"`
}

func readReleaseConfig(t *testing.T) *releaseConfig {
	t.Helper()
	var c releaseConfig
	if err := yaml.Unmarshal([]byte(text(t, root+"/.goreleaser.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.NFPMs) != 1 || len(c.Archives) != 1 || len(c.Casks) != 1 {
		t.Fatalf("%d packages, %d archives, %d casks", len(c.NFPMs), len(c.Archives), len(c.Casks))
	}
	return &c
}

// packaged is what .goreleaser.yaml says of packages, as nfpm itself takes it: with the
// program in bindir, which goreleaser puts there, and files of the release from made.
func packaged(t *testing.T, program, made string) nfpm.Config {
	t.Helper()
	p := readReleaseConfig(t).NFPMs[0]
	contents, _ := p["contents"].([]any)
	contents = append(contents, map[string]any{"src": program, "dst": p["bindir"].(string) + "/a2a-gateway", "file_info": map[string]any{"mode": 0o755}})
	for _, content := range contents {
		entry := content.(map[string]any)
		entry["src"] = source(entry["src"].(string), made)
	}
	scripts := p["scripts"].(map[string]any)
	for name, path := range scripts {
		scripts[name] = source(path.(string), made)
	}
	p["contents"], p["name"], p["arch"], p["version"] = contents, p["package_name"], "amd64", "1.2.3"
	for _, key := range []string{"package_name", "formats", "bindir", "mtime"} {
		delete(p, key)
	}
	doc, err := json.Marshal(p) // which is YAML
	if err != nil {
		t.Fatal(err)
	}
	config, err := nfpm.Parse(bytes.NewReader(doc))
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return config
}

// source is where a file of a package is.
func source(path, made string) string {
	if rest, ok := strings.CutPrefix(path, "bin/release"); ok {
		return made + rest
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// releaseFiles are those that `make release-files` makes.
func releaseFiles(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) []byte {
		out, err := exec.Command(program, args...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	run("man", "--dir", filepath.Join(dir, "man"))
	compress(t, filepath.Join(dir, "man", "*"))
	write(t, filepath.Join(dir, "config.schema.json"), run("schema"))
	if err := os.Mkdir(filepath.Join(dir, "completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		write(t, filepath.Join(dir, "completions", "a2a-gateway."+shell), run("completion", shell))
	}
	write(t, filepath.Join(dir, "NOTICES"), []byte("of make notices, which has tests of its own\n"))
	return dir
}

// compress does what gzip does.
func compress(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text(t, file))); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, file+".gz", b.Bytes())
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func pack(t *testing.T, c nfpm.Config, format string) string {
	t.Helper()
	info, err := c.Get(format)
	if err != nil {
		t.Fatal(err)
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		t.Fatal(err)
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a2a-gateway."+format)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := packager.Package(info, f); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDeb builds the package and unpacks it with Debian's own tool: everything is where
// Debian has it, the program runs, it accepts the configuration that comes with it, systemd
// finds nothing to object to in the unit, and upgrades leave the operator's file alone.
func TestDeb(t *testing.T) {
	t.Parallel()
	dpkg := required(t, "dpkg-deb", "dpkg")
	exe := program(t)
	config := packaged(t, exe, releaseFiles(t, exe))
	config.Deb.Compression = "none" // which takes most of the time otherwise
	file, to := pack(t, config, "deb"), t.TempDir()
	run := func(args ...string) string {
		out, err := exec.Command(dpkg, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg-deb %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	fields := run("--field", file)
	for _, want := range []string{"Package: a2a-gateway\n", "Version: 1.2.3\n", "Architecture: amd64\n", "Section: net\n"} {
		if !strings.Contains(fields, want) {
			t.Errorf("no %q in\n%s", want, fields)
		}
	}
	run("--raw-extract", file, to)
	for _, path := range []string{
		unit, "/usr/lib/systemd/system/a2a-gateway.socket", "/usr/lib/sysusers.d/a2a-gateway.conf", "/usr/share/doc/a2a-gateway/copyright", "/usr/share/doc/a2a-gateway/NOTICES",
		"/usr/share/man/man1/a2a-gateway.1.gz", "/usr/share/man/man1/a2a-gateway-serve.1.gz", "/usr/share/man/man5/a2a-gateway.yaml.5.gz",
		"/usr/share/bash-completion/completions/a2a-gateway", "/usr/share/zsh/vendor-completions/_a2a-gateway",
		"/usr/share/fish/vendor_completions.d/a2a-gateway.fish", "/DEBIAN/md5sums",
	} {
		text(t, to+path)
	}
	schema, _, _ := strings.Cut(text(t, to+"/etc/a2a-gateway/config.yaml"), "\n")
	_, schema, found := strings.Cut(schema, "$schema=")
	if !found || !json.Valid([]byte(text(t, to+schema))) {
		t.Errorf("the configuration names %q as its schema, which is no JSON", schema)
	}
	if got := strings.Fields(text(t, to+"/DEBIAN/conffiles")); !slices.Equal(got, []string{"/etc/a2a-gateway/config.yaml"}) {
		t.Errorf("configuration files: %v", got)
	}
	for _, script := range []string{"postinst", "prerm"} {
		if out, err := exec.Command("sh", "-n", to+"/DEBIAN/"+script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	installed := to + "/usr/bin/a2a-gateway"
	if out, err := exec.Command(installed, "version").Output(); err != nil || !strings.HasPrefix(string(out), "a2a-gateway ") {
		t.Errorf("version: %v %s", err, out)
	}
	newMachine(t, installed).accepts(t, installed, text(t, to+"/etc/a2a-gateway/config.yaml"), nil)
	analyze(t, to)
	quickStart(t, to)
}

// quickStart does as root what config.yaml says, on a machine whose /etc and /usr/lib/sysusers.d
// are copies: the package's script, a key, and then the unit's two commands as the user that
// systemd makes up for it. The file of keys is the service's to read, and nobody else's, before
// and after another key.
func quickStart(t *testing.T, root string) {
	t.Helper()
	unshare, setpriv := required(t, "unshare", "util-linux"), required(t, "setpriv", "util-linux")
	if os.Getuid() != 0 {
		t.Skip("a package is installed as root") // as which CI runs
	}
	group := directive(t, text(t, root+unit), "SupplementaryGroups")
	if name := strings.TrimSuffix(filepath.Base(unit), ".service"); group == name {
		t.Errorf("systemd makes no dynamic user %s where there is a group of that name", name)
	}
	etc := filepath.Join(t.TempDir(), "etc")
	if out, err := exec.Command("cp", "-a", "/etc", etc).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("cp", "-a", root+"/etc/a2a-gateway", etc).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	state := t.TempDir()
	out, err := exec.Command(unshare, "--mount", "sh", "-euc", `
root=$1 etc=$2 state=$3 group=$4 setpriv=$5
mount --bind "$etc" /etc
mount --bind "$root/usr/lib/sysusers.d" /usr/lib/sysusers.d
chmod 755 /etc/a2a-gateway; chmod 644 /etc/a2a-gateway/config.yaml
mount -t tmpfs tmpfs /mnt
cp "$root/usr/bin/a2a-gateway" /mnt; mkdir /mnt/state; chown 61184 /mnt/state; chmod 755 /mnt /mnt/a2a-gateway
service="$setpriv --reuid 61184 --regid 61184 --groups GID --bounding-set=-all --no-new-privs env STATE_DIRECTORY=/mnt/state /mnt/a2a-gateway"
stranger() { ! "$setpriv" --reuid 61185 --regid 61185 --clear-groups cat /etc/a2a-gateway/keys.yaml 2>/dev/null; }
for install in first again; do
  sh "$root/DEBIAN/postinst" configure
  service=$(echo "$service" | sed "s/GID/$(getent group "$group" | cut -d: -f3)/")
  /mnt/a2a-gateway keys create --file /etc/a2a-gateway/keys.yaml --id $install
  stat -c '%U %G %a' /etc/a2a-gateway/keys.yaml
  $service validate -c /etc/a2a-gateway/config.yaml
  stranger
done
sed -i 's/127.0.0.1:8080/127.0.0.1:0/; s/^server: {/server: {statusAddress: "127.0.0.1:0", /; $ a admin: {address: "off"}' /etc/a2a-gateway/config.yaml
$service serve -c /etc/a2a-gateway/config.yaml >/mnt/log 2>&1 & pid=$!
for try in $(seq 100); do grep -q '"msg":"serving"' /mnt/log && break; kill -0 $pid || break; sleep 0.1; done
kill $pid || true; wait $pid || true
cat /mnt/log
chmod 600 /etc/a2a-gateway/keys.yaml
$service validate -c /etc/a2a-gateway/config.yaml || echo "refused $?"
`, "sh", root, etc, state, group, setpriv).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"root " + group + " 640\n", `"msg":"serving"`, `"keys":2`, "keys.yaml: permission denied\n", "refused 2\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// directive is the value of one line of a unit.
func directive(t *testing.T, unit, name string) string {
	t.Helper()
	for line := range strings.Lines(unit) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in the unit", name)
	return ""
}

// analyze has systemd look at the unit as installed below root, and say how much it could
// do to the machine: from 0, nothing, to 10.
func analyze(t *testing.T, root string) {
	t.Helper()
	systemd := required(t, "systemd-analyze", "systemd")
	// The units that it is ordered after are the machine's, and a verifier of one root has
	// none of them but these.
	for _, name := range []string{"sysinit.target", "basic.target", "shutdown.target", "network-online.target", "multi-user.target", "sockets.target"} {
		write(t, filepath.Join(root, "usr/lib/systemd/system", name), []byte("[Unit]\nDescription="+name+"\n"))
	}
	if err := os.MkdirAll(root+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, root+"/bin/kill", []byte("#!/bin/sh\n"))
	if err := os.Chmod(root+"/bin/kill", 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(systemd, "verify", "--man=no", "--root="+root, filepath.Base(unit), "a2a-gateway.socket").CombinedOutput()
	if err != nil || strings.Contains(string(out), "a2a-gateway") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err = exec.Command(systemd, "security", "--offline=true", "--threshold=20", "--no-pager", root+unit).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// TestCask has Homebrew install what the archives have: the program, a completion for each
// shell, all manual pages and the schema.
func TestCask(t *testing.T) {
	t.Parallel()
	c := readReleaseConfig(t)
	archived := archive(t, c.Archives[0].Files, releaseFiles(t, program(t)))
	cask := c.Casks[0]
	if !slices.Equal(cask.Binaries, []string{"a2a-gateway"}) {
		t.Errorf("programs: %v", cask.Binaries)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if !slices.Contains(archived, cask.Completions[shell]) {
			t.Errorf("%s: no %q in the archive", shell, cask.Completions[shell])
		}
	}
	_, from, _ := strings.Cut(cask.CustomBlock, `artifact "`)
	from, _, _ = strings.Cut(from, `"`)
	if !strings.HasSuffix(from, ".schema.json") || !slices.Contains(archived, from) {
		t.Errorf("schema: no %q in the archive", from)
	}
	pages := 0
	for _, path := range archived {
		if !strings.HasPrefix(path, "man/") {
			continue
		}
		pages++
		if !slices.ContainsFunc(cask.Manpages, func(pattern string) bool { ok, _ := filepath.Match(pattern, path); return ok }) {
			t.Errorf("%s is in the archive, and not installed", path)
		}
	}
	for _, page := range []string{"man/a2a-gateway.1.gz", "man/a2a-gateway.yaml.5.gz"} {
		if !slices.Contains(archived, page) {
			t.Errorf("no %s among %d pages", page, pages)
		}
	}
}

// archive is what goreleaser puts beside the program, by the paths it has there: one file at
// dst, or those that a pattern finds below it.
func archive(t *testing.T, files []any, made string) []string {
	t.Helper()
	var paths []string
	for _, file := range files {
		src, single := file.(string)
		dst := src
		if !single {
			entry := file.(map[string]any)
			src, dst = entry["src"].(string), entry["dst"].(string)
		}
		found, err := filepath.Glob(source(src, made))
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %d files, %v", src, len(found), err)
		}
		for _, path := range found {
			if strings.Contains(src, "*") {
				paths = append(paths, dst+"/"+filepath.Base(path))
			} else {
				paths = append(paths, dst)
			}
		}
	}
	return paths
}

// TestRPM builds the other package of the same description.
func TestRPM(t *testing.T) {
	t.Parallel()
	exe := program(t)
	file := pack(t, packaged(t, "deploy/check/doc.go", releaseFiles(t, exe)), "rpm")
	data := text(t, file)
	if !strings.HasPrefix(data, "\xed\xab\xee\xdb") || !strings.Contains(data, "config.yaml") {
		t.Error("no RPM, or none with the configuration")
	}
}
