package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// subject is one way from the load generator to the agent. To add one, write a
// file with it and put it into subjects.
type subject struct {
	name string
	what string // one line for people
	// workloads takes part in these only; nil for all.
	workloads []string
	// version of A2A that the calls are in; "" for 1.0.
	version string
	// path of the agent's JSON-RPC endpoint, below what start says.
	path string
	// tenant names the agent over gRPC, which has no path for it.
	tenant string
	// task makes the agent answer every call with a new task, not with a message.
	task bool
	// strict ends a run in which it loses a stream: only other proxies may.
	strict bool
	// cannot is what it is not able to; workloads that need it leave the subject out.
	cannot []ability
	// like names the subject whose processes serve this one too; it is before this
	// one in the table, and start is nil.
	like string
	// start starts it. An error that wraps errMissing leaves the subject out.
	start func(*stage, setup) (*running, error)
}

// subjects in the order in which they run and are printed.
var subjects = []subject{
	direct, floor, grpcFloor, nginx, haproxy, haproxyJWT, caddy,
	gateway, gatewaySync, gatewaySQLite, gatewayGuards, gateway03, gateway10,
}

// setup is what a workload wants of a subject.
type setup struct {
	plain bool // no TLS between load generator and proxy
}

func (s setup) scheme() string {
	if s.plain {
		return "http"
	}
	return "https"
}

// errMissing says that a program is not on this machine.
var errMissing = errors.New("is not here")

// all are the subjects of a run: those of this program, and the peers that were described.
func (o *options) all() []subject { return slices.Concat(subjects, o.peers) }

// running is a subject that has been started.
type running struct {
	url        string
	rpc        string    // address for gRPC, where it is another
	status     string    // URL of the gateway's status listener
	began      time.Time // when the gateway was started
	pid        int       // of its first process, whose descendants count too; 0 for none
	version    string
	dataDir    string // of a gateway, where it says how its admin listener is reached
	stop       func()
	credential *credential // of a peer, in place of the usual token
	awake      bool        // is never stopped
	paused     bool        // stopped, since another is measured
	called     bool        // that rest is from before
	rest       float64     // resident memory before the first call, in MiB
}

func (r *running) cpu() (total time.Duration, err error) {
	err = r.each(func(pid int) error {
		d, err := processes.cpu(pid)
		total += d
		return err
	})
	return total, err
}

// rss is in KiB. What processes share counts for each of them.
func (r *running) rss() (total int, err error) {
	err = r.each(func(pid int) error {
		n, err := processes.rss(pid)
		total += n
		return err
	})
	return total, err
}

// atRest is the resident memory before anybody called, in MiB: what a process takes that is there
// and not needed. It is known where the first workload of a run asks for it.
func (r *running) atRest(ctx context.Context) (mib float64, known bool, err error) {
	if !r.called && r.pid != 0 && r.rest == 0 {
		wait(ctx, settling)
		rss, err := r.rss()
		if err != nil {
			return 0, false, err
		}
		r.rest = float64(rss) / 1024
	}
	return r.rest, r.rest > 0, nil
}

// settling is how long a process has, after its start, to be done with that.
const settling = time.Second

func (r *running) each(do func(pid int) error) error {
	if r.pid == 0 {
		return nil
	}
	pids, err := processes.tree(r.pid)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		err := do(pid)
		if pid != r.pid && errors.Is(err, fs.ErrNotExist) {
			continue // a child that has ended since
		}
		if err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return nil
}
