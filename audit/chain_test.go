package audit

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// lines are all records of a directory, without newlines.
func lines(t testing.TB, dir string) (all []string) {
	t.Helper()
	names, err := segment.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		content, err := os.ReadFile(n.Path(dir))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if whole, ok := strings.CutSuffix(line, "\n"); ok {
				all = append(all, whole)
			}
		}
	}
	return all
}

// TestChainInAShell: docs/audit.md has a shell follow the chain, with sha256sum, and find what
// was changed.
func TestChainInAShell(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```sh\nbefore=\n")
	script, _, ok := strings.Cut(script, "```")
	if !ok {
		t.Fatal("docs/audit.md does not say how to follow the chain")
	}
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir}, newFakeDisk())
	for i := range 3 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	follow := func() string {
		cmd := exec.Command("sh", "-c", "before=\n"+script) // our own page
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := follow(); out != "" {
		t.Errorf("nobody has changed anything, but: %s", out)
	}
	file := segment.Name{Day: "2026-11-21"}.Path(dir)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(`"seq":2`), []byte(`"seq":7`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := follow(); !strings.HasPrefix(out, `wrong: {"seq":7,`) || strings.Count(out, "wrong") != 1 {
		t.Errorf("the second record was changed, but: %s", out)
	}
}

// TestChainAcrossFiles: the first record of each file names it and binds it to the one
// before, whatever ended that, and a file without hashes is not continued.
func TestChainAcrossFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, filepath.Join(dir, "audit-2026-11-20.jsonl"), `{"seq":7,"v":1,"type":"event"}`+"\n")
	d := newFakeDisk()
	l, ring := signedLog(t, Config{Dir: dir}, d)
	add := func() {
		t.Helper()
		if err := l.Intent(exchange("x")); err != nil {
			t.Fatal(err)
		}
	}
	add()
	d.set(func() { d.clock = d.clock.Add(24 * time.Hour) })
	add()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, filepath.Join(dir, "audit-2026-11-22.jsonl"), `{"seq":12,`)
	l = signedBy(t, Config{Dir: dir}, d, ring)
	add()
	all := lines(t, dir)
	var got []string
	var before chain.Link
	for i, line := range all {
		body, h, ok := chain.CutHash([]byte(line))
		if i > 0 && (!ok || h != chain.NewSummer().Link(before, body)) {
			t.Errorf("the chain is broken at %s", line)
		}
		before = h
		var r struct {
			Type    string `json:"type"`
			Segment struct {
				Name  string `json:"name"`
				After string `json:"after"`
				Hash  string `json:"hash"`
			} `json:"segment"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Segment.Hash != "" {
			if _, prev, _ := chain.CutHash([]byte(all[i-1])); r.Segment.Hash != prev.String() {
				t.Errorf("%s is bound to %s", r.Segment.Name, r.Segment.Hash)
			}
		}
		got = append(got, strings.Trim(fmt.Sprint(r.Type, " ", r.Segment.Name, " ", r.Segment.After), " "))
	}
	want := []string{
		"event", "intent audit-2026-11-21.jsonl audit-2026-11-20.jsonl", "checkpoint",
		"intent audit-2026-11-22.jsonl audit-2026-11-21.jsonl", "checkpoint",
		"intent audit-2026-11-22_001.jsonl audit-2026-11-22.jsonl",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestCheckpoints: they come after so many records, and by the clock, and only where
// there is something to sign; the head follows.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	l, _ := signedLog(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 10}}, d)
	for i := range 25 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	l.sealNow()
	l.sealNow()
	if err := l.syncNow(); err != nil {
		t.Fatal(err)
	}
	var at []int
	for i, line := range lines(t, dir) {
		if strings.Contains(line, `"type":"checkpoint"`) {
			at = append(at, i+1)
		}
	}
	if fmt.Sprint(at) != "[11 22 28]" {
		t.Errorf("checkpoints at %v", at)
	}
	h, err := chain.ReadHead(filepath.Join(dir, chain.HeadFile))
	if err != nil || h == nil || h.Seq != 28 || h.Segment != "audit-2026-11-21.jsonl" {
		t.Errorf("head %+v, %v", h, err)
	}
}

// TestHeadAfterTheDisk: the head is not further than what the disk has.
func TestHeadAfterTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	l, _ := signedLog(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 10}}, d)
	for i := range 10 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	d.set(func() { d.syncErr = syscall.EIO })
	if err := l.syncNow(); err == nil {
		t.Error("fsync did not fail")
	}
	if h, err := chain.ReadHead(filepath.Join(dir, chain.HeadFile)); h == nil || h.Seq != 0 || err != nil {
		t.Errorf("head %+v, %v", h, err)
	}
}

// TestRecordsGone: a log whose last records were taken away while it was closed says so,
// and does not use their numbers again.
func TestRecordsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	l, ring := signedLog(t, Config{Dir: dir}, d)
	for i := range 5 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all := lines(t, dir)
	path := segment.Name{Day: "2026-11-21"}.Path(dir)
	if err := os.WriteFile(path, []byte(strings.Join(all[:3], "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l = signedBy(t, Config{Dir: dir}, d, ring)
	if err := l.Intent(exchange("later")); err != nil {
		t.Fatal(err)
	}
	now := lines(t, dir)
	if len(now) != 5 || !strings.Contains(now[3], `{"seq":7,`) ||
		!strings.Contains(now[3], `"event":"audit.gone","attrs":{"from":"4","segment":"audit-2026-11-21.jsonl","to":"6"}`) {
		t.Errorf("got %s", strings.Join(now, "\n"))
	}
	if body, h, _ := chain.CutHash([]byte(now[3])); h != chain.NewSummer().Link(hashOf(t, all[5]), body) {
		t.Error("the chain does not go on from what is gone")
	}
}

func hashOf(t *testing.T, line string) chain.Link {
	t.Helper()
	_, h, ok := chain.CutHash([]byte(line))
	if !ok {
		t.Fatalf("no hash in %s", line)
	}
	return h
}

func TestCutHash(t *testing.T) {
	t.Parallel()
	digits := hex.EncodeToString(bytes.Repeat([]byte{0xa5}, 32))
	for in, want := range map[string]bool{
		`{"seq":1,"hash":"` + digits + `"}`:                  true,
		`{"seq":1,"hash":"` + strings.ToUpper(digits) + `"}`: false,
		`{"seq":1,"hash":"` + digits[1:] + `"}`:              false,
		`{"seq":1,"hash": "` + digits[1:] + `"}`:             false,
		`{"seq":1}`:                                          false,
		``:                                                   false,
		`{"seq":1,"hash":"` + digits + `"} `:                 false,
		`{"seq":1,"hash":"` + strings.Repeat("g", len(digits)) + `"}`: false,
	} {
		if body, _, ok := chain.CutHash([]byte(in)); ok != want || ok && string(body) != `{"seq":1` {
			t.Errorf("%s: %s, %v", in, body, ok)
		}
	}
}

func TestCheckCheckpoint(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Checkpoint{
		"telemetry.audit.checkpoint.every":    {Every: 9},
		"telemetry.audit.checkpoint.interval": {Interval: quantity.Duration(time.Millisecond)},
	} {
		if err := (Config{Checkpoint: c}).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
