//go:build !minimal

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Variables that make the test binary a gateway's audit log with a sink, to be killed.
const (
	victimDir = "SINK_TEST_VICTIM_DIR"
	victimURL = "SINK_TEST_VICTIM_URL"
)

const victimTable = "audit_kill"

// open opens a log and its sink.
func open(dir, url string) (*audit.Log, *sink.Sinks, error) {
	tel, err := telemetry.Open(context.Background(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "test")
	if err != nil {
		return nil, nil, err
	}
	c := audit.Config{Dir: dir, SegmentSize: 64 << 10}
	l, err := audit.Open(c, "gw", tel)
	if err != nil {
		return nil, nil, err
	}
	s, err := sink.Open([]sink.Config{{Batch: 50, Timeout: quantity.Duration(5 * time.Second), Postgres: &postgres.Config{URL: secret.New(url), Table: victimTable}}},
		sink.Options{Source: c.Source(), Log: l, Gateway: "gw", Telemetry: tel})
	return l, s, err
}

// victim records calls until it is killed, and says which of them.
func victim(dir, url string) int {
	l, _, err := open(dir, url)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		if err := l.Event("test", map[string]string{"pid": strconv.Itoa(os.Getpid())}); err != nil {
			return 1
		}
		if _, err := fmt.Println(l.Seq()); err != nil {
			return 1
		}
		time.Sleep(time.Millisecond)
	}
}

// kill starts a victim and kills it after a while. It returns the number of the last
// record that was acknowledged.
func kill(t *testing.T, dir, url string, after time.Duration) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir, victimURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		last, _ = strconv.Atoi(strings.TrimSpace(line))
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the process was to be killed, not to end: %v", err)
	}
	return last
}

// TestNothingLost: the writer is killed again and again, the server ends without a word
// and comes back later, and in the end each record of the log is in the table once.
func TestNothingLost(t *testing.T) {
	testenv.Long(t, "the writer and the server are killed again and again")
	t.Parallel()
	server := ours(t)
	dir := t.TempDir()
	rounds := 5
	if s := os.Getenv("A2A_GATEWAY_TEST_KILLS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	last := 0
	for round := range rounds {
		after := 300*time.Millisecond + rand.N(700*time.Millisecond)
		switch round % 3 {
		case 1: // the server ends under way, and is not there when the next writer begins
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				time.Sleep(after / 2)
				server.End()
			}()
			last = max(last, kill(t, dir, server.URL(), after))
			<-ended
		case 2:
			last = max(last, kill(t, dir, server.URL(), after))
			server.Start(t)
		default:
			last = max(last, kill(t, dir, server.URL(), after))
		}
	}
	if !server.Running() {
		server.Start(t)
	}
	l, s, err := open(dir, server.URL())
	if err != nil {
		t.Fatal(err)
	}
	want := l.Seq()
	if want < uint64(last) || last == 0 { // small
		t.Fatalf("the log has %d records, %d were acknowledged", want, last)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		n := ask[int64](t, server, "SELECT CASE WHEN to_regclass('"+victimTable+"') IS NULL THEN 0 ELSE 1 END")
		if n == 1 {
			n = ask[int64](t, server, "SELECT coalesce(max(seq), 0) FROM "+victimTable)
		}
		if uint64(n) >= want { // no number is negative
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the table has come to %d of %d", n, want)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := errors.Join(l.Close(), s.Close(t.Context())); err != nil {
		t.Error(err)
	}
	got := ask[string](t, server, "SELECT concat_ws(' ', count(*), count(DISTINCT seq), min(seq), max(seq)) FROM "+victimTable)
	if want := fmt.Sprintf("%[1]d %[1]d 1 %[1]d", want); got != want {
		t.Errorf("records, numbers, first and last: %s, want %s", got, want)
	}
	t.Logf("%d records", want)
}

// TestRestored: a database that has lost what it once confirmed gets it again.
func TestRestored(t *testing.T) {
	t.Parallel()
	server := ours(t)
	dir := t.TempDir()
	l, s, err := open(dir, server.URL())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := l.Event("test", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Close(), s.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	count := "SELECT count(*) FROM " + victimTable
	if n := ask[int](t, server, count); n != 20 {
		t.Fatalf("%d records after Close", n)
	}
	ask[int](t, server, "WITH gone AS (DELETE FROM "+victimTable+" WHERE seq > 10), back AS (DELETE FROM "+victimTable+"_places) SELECT 1")
	if l, s, err = open(dir, server.URL()); err != nil {
		t.Fatal(err)
	}
	if err := l.Event("test", nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Close(), s.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, server, count); n != 21 {
		t.Errorf("%d records after it was restored", n)
	}
}
