package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const (
	startTimeout = time.Minute
	stopTimeout  = 5 * time.Second
)

// process is a program this run has started, and ends.
type process struct {
	cmd   *exec.Cmd
	lines chan string   // what it says, while somebody listens
	heard func()        // ends that
	deaf  chan struct{} // has ended
	ended chan struct{}
	// patience is how long it may take over its end.
	patience time.Duration

	mu   sync.Mutex // guards said
	said []string   // the last lines, for errors
}

// spawn starts a program, which is stopped at the latest when the stage closes.
func (st *stage) spawn(cmd *exec.Cmd) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if _, err = cmd.StdinPipe(); err == nil { // which ends when this process does
		err = cmd.Start()
	}
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	p := &process{cmd: cmd, patience: stopTimeout, lines: make(chan string), deaf: make(chan struct{}), ended: make(chan struct{})}
	p.heard = sync.OnceFunc(func() { close(p.deaf) })
	go p.listen(r)
	st.stops = append(st.stops, p.stop)
	return p, nil
}

// listen takes what the process says, so that its pipe never fills.
func (p *process) listen(r io.ReadCloser) {
	defer r.Close()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p.mu.Lock()
		p.said = append(p.said[max(0, len(p.said)-19):], lines.Text())
		p.mu.Unlock()
		select {
		case p.lines <- lines.Text():
		case <-p.deaf:
		}
	}
	_, _ = io.Copy(io.Discard, r) // after a line that is too long
	_ = p.cmd.Wait()
	close(p.ended)
}

// find waits for a line in which find finds something.
func (p *process) find(find func(string) string) (string, error) {
	defer p.heard()
	timeout := time.After(startTimeout)
	for {
		select {
		case line := <-p.lines:
			if found := find(line); found != "" {
				return found, nil
			}
		case <-p.ended:
			return "", p.failed("ended")
		case <-timeout:
			return "", p.failed("is not ready")
		}
	}
}

// reachable waits until the process takes connections at an address.
func (p *process) reachable(ctx context.Context, address string, within time.Duration) error {
	return p.until(ctx, within, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// until tries something until it is done without an error.
func (p *process) until(ctx context.Context, within time.Duration, try func(context.Context) error) error {
	p.heard()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.ended:
			return p.failed("ended")
		case <-ctx.Done():
			return fmt.Errorf("%w; %w", p.failed("is not ready"), err)
		}
	}
}

func (p *process) failed(how string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%s %s: %s", p.cmd.Path, how, strings.Join(p.said, "\n"))
}

// stop asks the process to end, and ends it, with its descendants, when it takes too long over it.
func (p *process) stop() {
	family := processes.offspring(p.cmd.Process.Pid)
	_ = signalTree(p.cmd.Process.Pid, syscall.SIGCONT) // else a stopped one hears nothing
	if err := p.cmd.Process.Signal(syscall.SIGINT); errors.Is(err, os.ErrProcessDone) {
		return
	}
	select {
	case <-p.ended:
	case <-time.After(p.patience):
		family.kill(processes)
		<-p.ended
	}
}

// freePort is an address that nobody listens at now.
func freePort() (string, error) {
	if address := gatewaytest.FreeAddress(); address != "" {
		return address, nil
	}
	return "", errors.New("no port is free")
}

// descriptors is how many files a process started by this one may open.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Max, 1<<20)) // at most a million
}
