//go:build unix

package servecmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// upgrade turns this process into what is by now at the path of its program. The
// process stays, so that whoever started it has nothing to notice.
type upgrade struct {
	signal  chan os.Signal
	program string
	config  string
}

// awaitUpgrade makes SIGUSR2 upgrade. Without a configuration file there is nothing
// to start again with: nil, which never upgrades.
func awaitUpgrade(config string) (*upgrade, error) {
	if config == "" {
		return nil, nil
	}
	path, err := program()
	if err != nil {
		return nil, err
	}
	// Room for one: signals that come while one is handled are one more attempt.
	u := &upgrade{signal: make(chan os.Signal, 1), program: path, config: config}
	signal.Notify(u.signal, syscall.SIGUSR2)
	return u, nil
}

// program is where this program is, under the name it was started by: a link may lead to
// another version next time. A name that leads elsewhere already is not to be trusted.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	if named, err = filepath.Abs(named); err != nil {
		return "", err
	}
	one, err := os.Stat(named)
	if err != nil {
		return self, nil
	}
	other, err := os.Stat(self)
	if err != nil || !os.SameFile(one, other) {
		return self, nil
	}
	return named, nil
}

// asked receives when an upgrade is asked for.
func (u *upgrade) asked() <-chan os.Signal {
	if u == nil {
		return nil
	}
	return u.signal
}

// done gives the signal back.
func (u *upgrade) done() {
	if u != nil {
		signal.Stop(u.signal)
	}
}

// checkWithin is how long the next version may take to read the configuration.
const checkWithin = 30 * time.Second

// check asks the next version whether it would serve the configuration, by running its `validate`.
// One that does not, or does not end within 30 s, leaves the running one as it is, and what it
// printed (up to 2 KiB) is in the log and the audit record of the attempt.
func (u *upgrade) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, u.program, "validate", "-c", u.config) //nolint:gosec // this program itself
	// A child of its that holds the output open is not waited for.
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		const most = 2 << 10
		return fmt.Errorf("%s: %w: %.*s", strings.Join(cmd.Args, " "), err, most, strings.TrimSpace(string(out)))
	}
	return nil
}

// run drains g and becomes the next version. It comes back with an error only, or when
// cancelled says that the gateway is to end instead.
func (u *upgrade) run(ctx context.Context, g *gateway.Gateway) error {
	environ, err := g.Handover(ctx)
	if environ == "" {
		return verb.Failed(err)
	}
	// The second signal came while the old version drained.
	if ctx.Err() != nil { // somebody wants it to end
		return nil
	}
	// Calls that were cut off have been told; what comes after is not to suffer for them.
	// These signals end a program that has not asked for them yet.
	signal.Ignore(syscall.SIGUSR2, syscall.SIGHUP)
	err = syscall.Exec(u.program, os.Args, append(os.Environ(), environ)) //nolint:gosec // this program itself
	return verb.Failed(fmt.Errorf("become %s: %w", u.program, err))
}
