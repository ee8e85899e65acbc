package vault

import (
	"bufio"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// TestKill kills a process that keeps content, and looks for all that it was told is kept.
func TestKill(t *testing.T) {
	if dir := os.Getenv("VAULT_KILL_DIR"); dir != "" {
		putForever(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$") // this program
	cmd.Env = append(os.Environ(), "VAULT_KILL_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for lines := bufio.NewScanner(out); len(ids) < 200 && lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "kept "); ok {
			ids = append(ids, id)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if len(ids) < 200 {
		t.Fatalf("only %d were kept", len(ids))
	}
	r := Reader{Dir: dir, Sealer: ringIn(t, dir)}
	for _, id := range ids {
		if item, err := r.Item(id); err != nil || item.Subject != "alice" {
			t.Errorf("%s: %+v, %v", id, item, err)
		}
	}
	count := 0
	for _, err := range r.Items() {
		if count++; err != nil {
			t.Error(err)
		}
	}
	if count < len(ids) {
		t.Errorf("there are %d of %d", count, len(ids))
	}
}

func ringIn(t *testing.T, dir string) *keys.Ring {
	t.Helper()
	r, err := keys.Open(keys.Config{Dir: dir + "/keys"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func putForever(t *testing.T, dir string) {
	t.Helper()
	v, err := Open(dir, ringIn(t, dir), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for {
		item := &Item{Subject: "alice", Label: "internal", Request: &Body{Text: strings.Repeat("x", 10000)}}
		got, err := v.Put(item, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString("kept " + got.ID + "\n"); err != nil {
			os.Exit(1) // nobody reads
		}
	}
}
