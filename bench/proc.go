package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// proc is where the kernel tells of its processes.
type proc string

const processes proc = "/proc"

// tick is the unit of times in stat. USER_HZ is 100 everywhere.
const tick = 10 * time.Millisecond

// tree is a process and all its descendants, such as the workers of a master.
func (p proc) tree(root int) ([]int, error) {
	entries, err := os.ReadDir(string(p))
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := p.stat(pid)
		if err != nil {
			continue // has ended since
		}
		if parent, err := strconv.Atoi(stat[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		next := children[tree[i]]
		slices.Sort(next)
		tree = append(tree, next...)
	}
	return tree, nil
}

// cpu is the user and system time of a process so far, and of its children that have ended: what a worker took is
// not gone when its master has started another.
func (p proc) cpu(pid int) (time.Duration, error) {
	stat, err := p.stat(pid)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, f := range stat[11:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// stat is what follows the command in a process's stat: state, parent, and so on.
func (p proc) stat(pid int) ([]string, error) {
	stat, err := os.ReadFile(filepath.Join(string(p), strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	// The command in parentheses may hold anything, a parenthesis too; what follows
	// it does not.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("stat has %d fields", len(fields))
	}
	return fields, nil
}

// rss is the resident memory of a process in KiB.
func (p proc) rss(pid int) (int, error) {
	status, err := os.ReadFile(filepath.Join(string(p), strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "\nVmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("status has no VmRSS")
	}
	return strconv.Atoi(fields[0])
}

// model is what the processor calls itself.
func (p proc) model() string {
	info, _ := os.ReadFile(filepath.Join(string(p), "cpuinfo"))
	_, rest, _ := strings.Cut(string(info), "model name")
	line, _, _ := strings.Cut(rest, "\n")
	_, name, _ := strings.Cut(line, ":")
	return strings.TrimSpace(name)
}

// kernel is its release.
func (p proc) kernel() string {
	release, _ := os.ReadFile(filepath.Join(string(p), "sys/kernel/osrelease"))
	return strings.TrimSpace(string(release))
}

// offspring are a process and its descendants, with when each was started: a number alone may be
// another process's by the time that it is used.
type offspring map[int]string

// offspring are those of a process now.
func (p proc) offspring(root int) offspring {
	found := offspring{}
	pids, _ := p.tree(root)
	for _, pid := range pids {
		if stat, err := p.stat(pid); err == nil && len(stat) > startTime {
			found[pid] = stat[startTime]
		}
	}
	return found
}

// startTime is the place of a process's start in what stat returns.
const startTime = 19

// kill ends what is still there of them, such as the workers of a master that was killed.
func (o offspring) kill(p proc) {
	for pid, began := range o {
		if stat, err := p.stat(pid); err == nil && len(stat) > startTime && stat[startTime] == began {
			_ = syscall.Kill(pid, syscall.SIGKILL) // has ended, or belongs to nobody else
		}
	}
}
