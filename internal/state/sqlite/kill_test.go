package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// Variables that make the test binary a process to be killed: its file, its way to sync
// and who it claims for.
const (
	victimFile  = "STATE_TEST_VICTIM_FILE"
	victimSync  = "STATE_TEST_VICTIM_SYNC"
	victimRound = "STATE_TEST_VICTIM_ROUND"
	victimQueue = "STATE_TEST_VICTIM_QUEUE" // "true": it works on a queue instead
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimFile); path != "" {
		os.Exit(victim(path, os.Getenv(victimRound)))
	}
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

// contested is how many tasks victims fight for, over all rounds.
const contested = 3000

// victim claims tasks for itself that many others claim, and takes steps, until it is
// killed. It says on standard output what it was told.
func victim(path, round string) int {
	c := config(path)
	c.SQLite.Sync = os.Getenv(victimSync)
	s, err := Open(context.Background(), c, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv(victimQueue) != "" {
		fmt.Fprintln(os.Stderr, statetest.WorkOn(s, "round-"+round, func(line string) { _, _ = os.Stdout.WriteString(line) }))
		return 1
	}
	failed := make(chan error)
	for w := range 8 {
		go func() { failed <- claimAll(s, fmt.Sprint(round, "-", w)) }()
	}
	fmt.Fprintln(os.Stderr, <-failed)
	return 1
}

func claimAll(s *Store, owner string) error {
	for {
		r := statetest.Example()
		r.ID, r.Owner = fmt.Sprint(rand.IntN(contested)), owner
		stands, err := s.Claim(context.Background(), r)
		if err != nil {
			return err
		}
		step := state.Step{Agent: r.Agent, Task: r.ID, Extension: "x"}
		by, err := s.Advance(context.Background(), step, "", owner)
		if err != nil {
			return err
		}
		if _, err := fmt.Println(r.ID, stands.Owner, by); err != nil {
			return err
		}
	}
}

// TestR12_Kill9 kills a process at random moments, again and again on the same file: no
// task that it was told of is lost or changes its owner, nor is a step.
// A2A_GATEWAY_TEST_KILLS says how often, for each way to sync; the promise is 200.
func TestR12_Kill9(t *testing.T) {
	t.Parallel()
	rounds := killings()
	for _, sync := range []string{state.SyncNormal, state.SyncFull} {
		t.Run(sync, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			told := map[string][2]string{}
			lines := 0
			for round := range rounds {
				for _, line := range killOne(t, path, sync, round) {
					lines++
					part := strings.Fields(line)
					said := [2]string{part[1], part[2]}
					if before, ok := told[part[0]]; ok && before != said {
						t.Errorf("round %d: task %s was said to be %q, and now %q", round, part[0], before, said)
					}
					told[part[0]] = said
				}
			}
			begin := time.Now()
			s := reopen(t, config(path), time.Now)
			t.Logf("%d answers on %d tasks; the last start took %v", lines, len(told), time.Since(begin))
			if len(told) == 0 {
				t.Error("nothing was claimed")
			}
			for id, said := range told {
				verify(t, s, id, said)
			}
		})
	}
}

// TestR18_Kill9 does the same to a queue: no item whose push was acknowledged is lost,
// and those of one line stay in order.
func TestR18_Kill9(t *testing.T) {
	t.Parallel()
	for _, sync := range []string{state.SyncNormal, state.SyncFull} {
		t.Run(sync, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			var told statetest.Told
			for round := range killings() {
				for _, line := range killOne(t, path, sync, round, victimQueue+"=true") {
					told.Note(line)
				}
			}
			told.Verify(t, reopen(t, config(path), time.Now))
		})
	}
}

func killings() int {
	if n, err := strconv.Atoi(os.Getenv("A2A_GATEWAY_TEST_KILLS")); err == nil {
		return n
	}
	return 8
}

func verify(t *testing.T, s *Store, id string, said [2]string) {
	t.Helper()
	r := statetest.Example()
	stands, ok, err := s.Lookup(t.Context(), r.Agent, state.Task, id)
	if err != nil || !ok || stands.Owner != said[0] {
		t.Errorf("task %s is %q's (%v, %v); it was said to be %q's", id, stands.Owner, ok, err, said[0])
	}
	by, err := s.Advance(t.Context(), state.Step{Agent: r.Agent, Task: id, Extension: "x"}, "", "")
	if err != nil || by != said[1] {
		t.Errorf("the step of task %s was taken by %q (%v); it was said to be by %q", id, by, err, said[1])
	}
}

// killOne runs a victim, kills it after a random number of answers, and returns all it
// gave until it was dead.
func killOne(t *testing.T, path, sync string, round int, env ...string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0]) // this very program
	cmd.Env = append(os.Environ(), victimFile+"="+path, victimSync+"="+sync, victimRound+"="+fmt.Sprint(round))
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := 1 + rand.IntN(300)
	var answers []string
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // it is dead; a torn line was not received as a whole
			break
		}
		answers = append(answers, strings.TrimSuffix(line, "\n"))
		if len(answers) == limit {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the process was to be killed, not to end: %v", err)
	}
	return answers
}
