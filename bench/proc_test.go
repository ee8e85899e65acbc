package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kernelOf is a /proc with such files by process.
func kernelOf(t *testing.T, stats, statuses map[int]string) proc {
	t.Helper()
	dir := t.TempDir()
	for name, files := range map[string]map[int]string{"stat": stats, "status": statuses} {
		for pid, content := range files {
			sub := filepath.Join(dir, strconv.Itoa(pid))
			if err := os.MkdirAll(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(sub, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sys"), 0o700); err != nil { // is no process
		t.Fatal(err)
	}
	return proc(dir)
}

// stat is a line of the kernel's: process, command, parent, ticks of user and system.
func stat(pid int, command string, parent, user, system int) string {
	fields := []string{strconv.Itoa(pid), "(" + command + ")", "S", strconv.Itoa(parent)}
	fields = append(fields, strings.Fields("1 1 0 -1 4194560 100 0 0 0")...)
	fields = append(fields, strconv.Itoa(user), strconv.Itoa(system))
	return strings.Join(append(fields, strings.Fields("7 8 20 0 1 0 100 1000 100")...), " ") + "\n"
}

func TestTree(t *testing.T) {
	t.Parallel()
	p := kernelOf(t, map[int]string{
		1:  stat(1, "init", 0, 1, 1),
		10: stat(10, "nginx: master", 1, 1, 1),
		11: stat(11, "nginx: worker) 99 (", 10, 1, 1), // a command may be anything
		12: stat(12, "nginx: worker", 10, 1, 1),
		13: stat(13, "helper", 12, 1, 1),
		20: stat(20, "other", 1, 1, 1),
		21: "21 (broken) S",
	}, nil)
	tree, err := p.tree(10)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{10, 11, 12, 13}; !slices.Equal(tree, want) {
		t.Errorf("%v, want %v", tree, want)
	}
}

func TestCPU(t *testing.T) {
	t.Parallel()
	p := kernelOf(t, map[int]string{
		1: stat(1, "a b) c", 0, 110, 25), // and 7 and 8 of children that have ended
		2: "2 (short) S 1",
		3: strings.Replace(stat(3, "x", 0, 424242, 1), "424242", "many", 1),
	}, nil)
	for pid, want := range map[int]time.Duration{1: 1500 * time.Millisecond, 2: -1, 3: -1, 4: -1} {
		got, err := p.cpu(pid)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("process %d: %v, %v", pid, got, err)
		}
	}
}

func TestRSS(t *testing.T) {
	t.Parallel()
	p := kernelOf(t, nil, map[int]string{
		1: "Name:\tx\nVmPeak:\t   900 kB\nVmRSS:\t   1234 kB\nRssAnon:\t 1 kB\n",
		2: "Name:\tkthread VmRSS:\n",
	})
	if got, err := p.rss(1); err != nil || got != 1234 {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := p.rss(2); err == nil {
		t.Errorf("a process without memory has %d KiB", got)
	}
}

// TestSelf holds the parsers against the kernel that is here.
func TestSelf(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip(err)
	}
	// Not the tree: children of other tests end meanwhile.
	if rss, err := processes.rss(os.Getpid()); err != nil || rss < 1000 {
		t.Errorf("%d KiB, %v", rss, err)
	}
	if cpu, err := processes.cpu(os.Getpid()); err != nil || cpu < 0 || cpu > time.Hour {
		t.Errorf("%v, %v", cpu, err)
	}
	if processes.kernel() == "" {
		t.Error("the kernel has no release")
	}
}
