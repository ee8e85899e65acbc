package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Variables that make the test binary a process to be killed: the directory it
// writes to, and what its request ids begin with.
const (
	victimDir   = "AUDIT_TEST_VICTIM_DIR"
	victimRound = "AUDIT_TEST_VICTIM_ROUND"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(victim(dir, os.Getenv(victimRound)))
	}
	os.Exit(m.Run())
}

// victim writes intents from several goroutines until it is killed, and says on
// standard output which ones were acknowledged.
func victim(dir, round string) int {
	tel, err := telemetry.Open(context.Background(), telemetry.Config{}, "test")
	if err != nil {
		return 1
	}
	l, err := Open(Config{Dir: dir, SegmentSize: minSegmentSize, Durability: os.Getenv("AUDIT_TEST_DURABILITY")}, "gw", tel)
	if err != nil {
		tel.Log.Error("open", "error", err)
		return 1
	}
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := round + "-" + strconv.Itoa(w) + "-" + strconv.Itoa(i)
				if err := l.Intent(exchange(id)); err != nil {
					failed <- err
				}
				if _, err := os.Stdout.WriteString(id + "\n"); err != nil {
					failed <- err
				}
			}
		}()
	}
	tel.Log.Error("write", "error", <-failed)
	return 1
}

// TestR10_Kill9 kills a writing process at random moments, again and again on
// the same directory: every intent it said was acknowledged is on the disk, all
// records together are one sequence without a gap, and at most the last line of
// a segment is torn.
func TestR10_Kill9(t *testing.T) {
	t.Parallel()
	rounds := 10
	if s := os.Getenv("A2A_GATEWAY_TEST_KILLS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	for _, durability := range []string{durabilityWrite, durabilitySync} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var acknowledged []string
			for round := range rounds {
				acknowledged = append(acknowledged, killOne(t, dir, durability, round)...)
			}
			got := ids(read(t, dir, true))
			for _, id := range acknowledged {
				if got["intent "+id] != 1 {
					t.Errorf("%s was acknowledged and is there %d times", id, got["intent "+id])
				}
			}
			if len(acknowledged) == 0 {
				t.Error("nothing was acknowledged")
			}
			t.Logf("%d acknowledged, %d records", len(acknowledged), len(got))
		})
	}
}

// killOne runs a victim, kills it after a random number of acknowledgements, and
// returns all it gave until it was dead.
func killOne(t *testing.T, dir, durability string, round int) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir, victimRound+"="+fmt.Sprint(round), "AUDIT_TEST_DURABILITY="+durability)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := 1 + rand.IntN(200)
	var acknowledged []string
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // it is dead; a torn line was not received as a whole
			break
		}
		acknowledged = append(acknowledged, strings.TrimSuffix(line, "\n"))
		if len(acknowledged) == limit {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the process was to be killed, not to end: %v", err)
	}
	return acknowledged
}
