// Package operator is what the console and the admin API ask of a running gateway: its
// callers, cards, agents' extensions, rules, records and trials. Each answers from the
// snapshot in force, and has what it needs and no more.
package operator

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/process"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
)

// Running is the gateway as a whole, as the console sees it.
type Running struct {
	*Parts
	*Peers

	Version   string
	Began     time.Time
	Current   *snapshot.Current
	Readiness Readiness
	Reloaded  func() (at time.Time, failure error) // the last one; zero before there was one
	Follows   *atomic.Bool                         // a file is followed
	Asks      chan chan error                      // to whoever follows it; each hears what came of it
	Closed    <-chan struct{}
}

// Readiness is what probes are told.
type Readiness interface {
	// unready is why every call would be refused, "" where that is not so.
	Unready() string
	// details has a line a check: name, ok or failed, and why.
	Details(ctx context.Context) []string
}

// Status implements process.Running.
func (r *Running) Status(ctx context.Context) process.Status {
	why := r.Readiness.Unready()
	st := process.Status{
		Version: r.Version, Started: r.Began.UTC(), Uptime: int64(time.Since(r.Began) / time.Second), Ready: why == "", Why: why,
		Checks: []process.Check{},
	}
	for _, text := range r.Readiness.Details(ctx) {
		st.Checks = append(st.Checks, checkOf(text))
	}
	if s := r.Current.Load(); s != nil {
		st.Agents, st.Config.Digest = len(s.Config.Agents), "sha256:"+hex.EncodeToString(s.Config.Common[:])
	}
	if at, failure := r.Reloaded(); !at.IsZero() {
		st.Config.Reloaded = at.UTC()
		if failure != nil {
			st.Config.Failure = failure.Error()
		}
	}
	return st
}

// checkOf reads a line of details.
func checkOf(text string) process.Check {
	name, result, _ := strings.Cut(text, ": ")
	why, failed := strings.CutPrefix(result, "failed: ")
	if !failed {
		why = ""
	}
	return process.Check{Name: name, OK: !failed, Why: why}
}

// Config implements process.Running.
func (r *Running) Config() (jsontext.Value, error) {
	s := r.Current.Load()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	return s.Config.Show()
}

// Reload implements process.Running. It is done by who follows the file, so that one
// change of it is one reload, and goes on when the operator does not wait any more.
func (r *Running) Reload(ctx context.Context) error {
	if !r.Follows.Load() {
		return process.ErrNoFile
	}
	done := make(chan error, 1)
	for asks := r.Asks; ; asks = nil {
		select {
		case asks <- done:
		case err := <-done:
			if err != nil {
				return process.ConfigInvalid{Err: err}
			}
			return nil
		case <-r.Closed:
			return snapshot.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("reload: %w", ctx.Err())
		}
	}
}
