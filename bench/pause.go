package main

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// Subjects that are not measured are stopped (SIGSTOP): what they do by themselves, such as collecting
// garbage or looking whether an agent is there, would be taken from the processors of the one that is.

// only lets one subject run, and stops all others; nil stops all.
func (st *stage) only(r *running) error {
	for _, other := range st.running {
		if other == r {
			continue
		}
		if err := other.pause(); err != nil {
			return err
		}
	}
	if r == nil {
		return nil
	}
	return st.awake(r)
}

// awake lets a subject run that may have been stopped.
func (st *stage) awake(r *running) error {
	if !r.paused {
		return nil
	}
	r.paused = false
	if err := signalTree(r.pid, syscall.SIGCONT); err != nil {
		return err
	}
	wait(st.ctx, catchUp)
	return st.ctx.Err()
}

// catchUp is how long a subject has for what became due while it was stopped.
const catchUp = 100 * time.Millisecond

// pause stops the processes of a subject until awake.
func (r *running) pause() error {
	if r.paused || r.awake || r.pid == 0 {
		return nil
	}
	r.paused = true
	return signalTree(r.pid, syscall.SIGSTOP)
}

// signalTree sends one to a process and all its descendants, the oldest first: a master that is stopped
// starts no worker in place of one that does not answer.
func signalTree(root int, s syscall.Signal) error {
	pids, err := processes.tree(root)
	if err != nil {
		return err
	}
	if s == syscall.SIGCONT { // and goes on last
		slices.Reverse(pids)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%v process %d: %w", s, pid, err)
		}
	}
	return nil
}
