package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of a mebibyte, which takes root.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a file system that can be filled cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ballast takes all room that a file system has, and returns how it is given back.
func ballast(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestR11_FullDisk fills the disk of the audit log, again and again. While it is full
// callers are refused with 503 and Retry-After, and it works again by itself when there is
// room; no record is missing then. What is asserted of the times: that in the best round
// the median refusal comes within 50 ms and it works again within two seconds, and that no
// refusal takes more than five seconds and no round more than fifteen.
func TestR11_FullDisk(t *testing.T) {
	t.Parallel()
	const rounds, callers, each = 4, 4, 50
	dir := smallDisk(t)
	s := prepare(t, backend(t, 0), fmt.Sprintf("telemetry: {audit: {dir: %q}}", dir))
	p := start(t, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	status := part(line, "status_url")
	url := p.ready()
	ask := func(path string) (int, string) { // as whoever looks after the gateway does
		resp, err := http.Get(status + path)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	audits := func() string {
		_, text := ask("/readyz?verbose")
		_, line, _ := strings.Cut(text, "\naudit: ")
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	var medians, resumed, all []time.Duration
	for round := range rounds {
		empty := ballast(t, dir)
		c := s.caller(url, "owner", true)
		eventually(t, "there is no room", 30*time.Second, func() bool { return !c.send(fmt.Sprint(round)).ok() })
		var mu sync.Mutex
		var took []time.Duration
		var crowd sync.WaitGroup
		for n := range callers {
			crowd.Go(func() {
				for k := range each {
					a := c.send(fmt.Sprint(round, "-", n, "-", k))
					mu.Lock()
					took = append(took, a.took)
					mu.Unlock()
					if after, err := strconv.Atoi(a.retry); a.err != nil || a.status != http.StatusServiceUnavailable || err != nil || after < 1 {
						t.Errorf("round %d: %d, Retry-After %q, %v: %.200s", round, a.status, a.retry, a.err, a.body)
						return
					}
				}
			})
		}
		crowd.Wait()
		medians, all = append(medians, quantile(took, .5)), append(all, took...)
		if said := audits(); !strings.HasPrefix(said, "failed: ") {
			t.Errorf("round %d: it says that the log is %s", round, said)
		}
		if code, text := ask("/readyz"); code != http.StatusServiceUnavailable || !strings.HasPrefix(text, "audit: failed: ") {
			t.Errorf("round %d: /readyz says %d %q while every call is refused", round, code, text)
		}
		if code, _ := ask("/livez"); code != http.StatusOK {
			t.Errorf("round %d: /livez says %d: to start again would mend nothing", round, code)
		}
		empty()
		resumed = append(resumed, eventually(t, "it works again without a call", 15*time.Second, func() bool { return audits() == "ok" }))
		if code, text := ask("/readyz"); code != http.StatusOK {
			t.Errorf("round %d: it works again, and /readyz says %d %q", round, code, text)
		}
		if a := c.send("after"); !a.ok() {
			t.Errorf("round %d: it works again, and yet: %d %v %.200s", round, a.status, a.err, a.body)
		}
	}
	t.Logf("%d refusals: p50 %v, p99 %v, at most %v; works again after %v at best, %v at worst",
		len(all), quantile(all, .5), quantile(all, .99), quantile(all, 1), quantile(resumed, 0), quantile(resumed, 1))
	if quantile(medians, 0) > 50*time.Millisecond || quantile(all, 1) > 5*time.Second {
		t.Errorf("refusals: medians of the rounds %v, at most %v", medians, quantile(all, 1))
	}
	if quantile(resumed, 0) > 2*time.Second {
		t.Errorf("works again after %v", resumed)
	}
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("ended with %d", code)
	}
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "audit", "verify", "--dir", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "signed to the end") {
		t.Errorf("%v: %s", err, out)
	}
}
