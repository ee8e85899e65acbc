package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// family starts a process with a child, and returns both.
func family(t *testing.T, st *stage) (*process, []int) {
	t.Helper()
	p, err := st.spawn(exec.Command("sh", "-c", "trap '' INT; echo up=1; sleep 60; exit"))
	if err != nil {
		t.Fatal(err)
	}
	p.patience = 100 * time.Millisecond
	if _, err := p.find(func(line string) string { return line }); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		pids, err := processes.tree(p.cmd.Process.Pid)
		if err != nil || len(pids) != 2 {
			continue
		}
		// Before it is the program, its parent waits for that (vfork), and cannot be stopped.
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pids[1])); err == nil && string(name) == "sleep\n" {
			return p, pids
		}
	}
	t.Fatal("there is no child")
	return nil, nil
}

// states are those of processes: S for one that waits, T for one that is stopped.
func states(t *testing.T, pids []int) []string {
	t.Helper()
	var all []string
	for _, pid := range pids {
		stat, err := processes.stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stat[0])
	}
	return all
}

// TestOnly: while one subject is measured, no process of another runs.
func TestOnly(t *testing.T) {
	t.Parallel()
	st := &stage{ctx: t.Context()}
	defer func() { st.close() }()
	one, ones := family(t, st)
	two, twos := family(t, st)
	a, b := &running{pid: one.cmd.Process.Pid}, &running{pid: two.cmd.Process.Pid}
	three, threes := family(t, st)
	st.running = map[string]*running{"direct": {}, "a": a, "b": b, "c": {pid: three.cmd.Process.Pid, awake: true}}
	stopped, runs := []string{"T", "T"}, []string{"S", "S"}
	for _, step := range []struct {
		who        *running
		ones, twos []string
	}{{a, runs, stopped}, {b, stopped, runs}, {nil, stopped, stopped}, {st.running["direct"], stopped, stopped}, {a, runs, stopped}} {
		if err := st.only(step.who); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) { // signals take a moment
			one, two := states(t, ones), states(t, twos)
			if slices.Equal(one, step.ones) && slices.Equal(two, step.twos) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v and %v, want %v and %v", one, two, step.ones, step.twos)
			}
		}
	}
	if got := states(t, threes); !slices.Equal(got, runs) {
		t.Errorf("who is to stay awake is %v", got)
	}
	// b is stopped, and neither its shell nor the shell's child would heed SIGINT.
	st.close()
	for _, pid := range slices.Concat(ones, twos, threes) {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) { // a kill takes a moment, too
			stat, err := processes.stat(pid)
			if err != nil || stat[0] == "Z" {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("process %d is still there: %s", pid, stat[0])
				break
			}
		}
	}
}
