//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestR02_Drain ends a gateway under load whose clients look at /readyz as a load
// balancer does: no call fails, every stream is told to come back, and the process ends
// within its window.
func TestR02_Drain(t *testing.T) {
	s := prepare(t, backend(t, time.Millisecond), "  timeouts: {lameDuck: 1s, drain: 4s}")
	p := start(t, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url"), part(line, "status_url")
	streams := s.open(t, url, 30)
	c := &crowd{stop: make(chan struct{})}
	s.drive(url, 4, true, c)
	s.drive(url, 2, false, c)
	time.Sleep(time.Second)

	begun := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for {
		resp, err := http.Get(status + "/readyz")
		if err != nil {
			t.Fatalf("/readyz: %v", err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			break
		}
	}
	t.Logf("not ready after %v", time.Since(begun))
	time.Sleep(300 * time.Millisecond) // nobody has gone elsewhere yet
	c.halt(t)
	for _, f := range streams {
		if err := f.returns(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d streams told to come back after %v", len(streams), time.Since(begun))
	<-p.done
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("ended after %v, with a window of 4s", took)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	t.Logf("ended after %v", time.Since(begun))
}

// open opens streams.
func (s *setting) open(t *testing.T, url string, n int) []*feed {
	t.Helper()
	c := s.caller(url, "owner", true)
	c.client.Timeout = 0
	all := make([]*feed, n)
	for i := range all {
		var err error
		if all[i], err = c.stream(t.Context(), fmt.Sprintf("stream-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestR02_Upgrade replaces the program of a gateway under load: no connection is
// refused, no call fails, streams are told to come back, and tasks have kept their
// owners. The process stays the same.
func TestR02_Upgrade(t *testing.T) {
	s := prepare(t, backend(t, time.Millisecond), "  timeouts: {drain: 10s}")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(s.dir, "current")
	if err := os.Symlink(path, program); err != nil {
		t.Fatal(err)
	}
	p := startAt(t, program, "serve", "-c", s.config)
	url := part(p.await(`"msg":"serving"`), "url")
	streams := s.open(t, url, 30)
	c := &crowd{stop: make(chan struct{})}
	s.drive(url, 4, true, c)
	s.drive(url, 2, false, c)

	// Nothing happens for a configuration that cannot be served.
	good, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.config, string(good)+"unheard: of\n")
	p.send(syscall.SIGUSR2)
	if line := p.await(`"msg":"not upgraded`); !strings.Contains(line, "unheard") {
		t.Errorf("refused with %s", line)
	}
	write(t, s.config, string(good))

	next := filepath.Join(s.dir, "next")
	if err := os.Link(path, next); err != nil { // another file system: a copy does as well
		copyFile(t, path, next)
	}
	if err := os.Symlink(next, program+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	p.send(syscall.SIGUSR2)
	again := p.awaitNth(`"msg":"serving"`, 2)
	t.Logf("upgraded after %v", time.Since(begun))
	if u := part(again, "url"); u != url {
		t.Errorf("serves at %s, not at %s", u, url)
	}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.cmd.Process.Pid)); err == nil && exe != next {
		t.Errorf("runs %s, not %s", exe, next)
	}
	for _, f := range streams {
		if err := f.returns(); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(500 * time.Millisecond)
	c.halt(t)
	if a := s.caller(url, "owner", true).call("GetTask", "g", `{"id":"task-stream-3"}`); !strings.Contains(a.body, `"result"`) {
		t.Errorf("the owner's task: %+v", a)
	}
	if a := s.caller(url, "thief", true).call("GetTask", "g", `{"id":"task-stream-3"}`); !strings.Contains(a.body, "-32001") {
		t.Errorf("somebody else's task: %+v", a)
	}
	back := s.open(t, url, 1)
	_ = back[0].resp.Body.Close()
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code after SIGTERM: %d", code)
	}
	kinds := audited(t, filepath.Join(s.dir, "data"))
	if kinds["upgrade.refused"] != 1 || kinds["upgrade.begun"] != 1 {
		t.Errorf("audit events: %v", kinds)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o700); err != nil {
		t.Fatal(err)
	}
}

// audited counts the audit records below dir that mention an upgrade.
func audited(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "audit", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no audit segments below %s: %v", dir, err)
	}
	kinds := map[string]int{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"upgrade.refused", "upgrade.begun"} {
			kinds[kind] += strings.Count(string(b), `"`+kind+`"`)
		}
	}
	return kinds
}
