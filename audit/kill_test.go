package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Variables that make the test binary a process to be killed: the directory it
// writes to, and what its request ids begin with.
const (
	victimDir   = "AUDIT_TEST_VICTIM_DIR"
	victimRound = "AUDIT_TEST_VICTIM_ROUND"
	victimKind  = "AUDIT_TEST_VICTIM_KIND"
)

// victims are the configurations that are killed.
var victims = map[string]Config{
	durabilityWrite: {Durability: durabilityWrite},
	durabilitySync:  {Durability: durabilitySync},
	"encrypted":     {Encryption: oneKey, Compress: true},
}

// in is the configuration in a directory, with all that happens seldom happening often.
func (c Config) in(dir string) Config {
	c.Dir, c.SegmentSize, c.Checkpoint.Every = dir, minSegmentSize, minEvery
	return c
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(victim(dir, os.Getenv(victimRound)))
	}
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

// victim writes intents from several goroutines until it is killed, and says on
// standard output which ones were acknowledged.
func victim(dir, round string) int {
	tel, err := telemetry.Open(context.Background(), telemetry.Config{}, "test")
	if err != nil {
		return 1
	}
	l, err := Open(victims[os.Getenv(victimKind)].in(dir), "gw", tel)
	if err != nil {
		tel.Log.Error("open", "error", err)
		return 1
	}
	ring, err := keys.Open(keys.Config{Dir: filepath.Join(dir, "keys")}, slog.New(slog.DiscardHandler))
	if err != nil {
		tel.Log.Error("open", "error", err)
		return 1
	}
	l.SignWith(ring)
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := round + "-" + strconv.Itoa(w) + "-" + strconv.Itoa(i)
				if err := l.Intent(exchange(id)); errors.Is(err, errStalled) {
					continue // a busy disk: the call is refused, and nobody says that it was recorded
				} else if err != nil {
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
// records together are one chain without a gap, and at most the last line of
// a segment is torn. A2A_GATEWAY_TEST_KILLS says how often; default 5.
func TestR10_Kill9(t *testing.T) {
	t.Parallel()
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("A2A_GATEWAY_TEST_KILLS")); err == nil {
		kills = n
	}
	for kind := range victims {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var acknowledged []string
			for round := range kills {
				acknowledged = append(acknowledged, killOne(t, dir, kind, round)...)
			}
			config := victims[kind].in(dir)
			there := intentsIn(t, config.Source())
			for _, id := range acknowledged {
				if there[id] != 1 {
					t.Errorf("%s was acknowledged and is there %d times", id, there[id])
				}
			}
			r, err := Verify(t.Context(), config.Source(), Check{})
			if err != nil || len(r.Findings) > 0 || r.Unchained > 0 || len(r.Torn) > kills {
				t.Errorf("%s, %v", said(r), err)
			}
			if len(acknowledged) == 0 {
				t.Error("nothing was acknowledged")
			}
			t.Logf("%d acknowledged, %d records in %d files, %d of them torn", len(acknowledged), r.Records, r.Segments, len(r.Torn))
		})
	}
}

// intentsIn counts intents by their request ids.
func intentsIn(t *testing.T, s reader.Source) map[string]int {
	t.Helper()
	_, end, err := s.Last(0)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for e, err := range s.Follow(t.Context(), reader.Cursor{}) {
		var r record
		if err = errors.Join(err, json.Unmarshal(e.Line, &r)); err != nil {
			t.Fatal(err)
		}
		if r.Type == typeIntent {
			there[r.RequestID]++
		}
		if e.Seq == end.Seq {
			break
		}
	}
	return there
}

// killOne runs a victim, kills it after a random number of acknowledgements, and
// returns all it gave until it was dead.
func killOne(t *testing.T, dir, kind string, round int) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir, victimRound+"="+fmt.Sprint(round), victimKind+"="+kind)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := 1 + rand.IntN(300)
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
