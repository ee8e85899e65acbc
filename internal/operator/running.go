// Package operator is what the console and the admin API ask of a running gateway: its
// callers, cards, agents' extensions, rules, records and trials. Each answers from the
// snapshot in force, and has what it needs and no more.
//
// A type here stands between two sides that know nothing of each other. On the one side are
// the packages below internal/console, which declare what they need as interfaces
// (cards.Cards, rules.Policy, records.Records and so on) and serve it over HTTP. On the
// other side are the parts of the gateway: the audit log, the state, the listener, the
// snapshot of the configuration. internal/gateway builds the types here from those parts
// and hands them to console.Open.
//
// An example: GET /api/v1/cards of the admin API ends in Cards.List. It takes the snapshot
// in force, and for each agent of it the ruling of the agent's judge and the bytes of the
// card that callers see; the console package makes JSON of that and pages it.
//
// Two ways to the snapshot are used. Current.Load gives it without holding it, for what
// only reads values that stay valid after a reload, such as the configuration.
// Current.Acquire holds it until Release, for what uses its connections, compiled rules or
// sources of cards: without that a reload could close them in the middle of an answer. Both
// give nil once the gateway has been closed; methods that return an error then return
// snapshot.ErrClosed, and the others an empty answer, since the console is about to go as
// well.
//
//	| type | asked by | answers from |
//	| --- | --- | --- |
//	| Running, Parts, Peers | process, health, replicas | listener, audit log, state, load |
//	| Callers | identities, apikeys | authentication of the snapshot, the file of API keys |
//	| Cards | cards | sources and judges of cards, the book of rulings |
//	| Extensions, Policies | extensions, rules | configuration, counters since the start |
//	| Records, Contents | records, contents | audit log on disk, index, captured content |
//	| Deliveries, Streams | deliveries, streams | queue of webhooks, open event streams |
//	| Trials | trials | the gateway's own public listener |
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

	// The gateway's own, as `a2a-gateway version` prints it.
	Version string
	// When the process began to serve; uptime is counted from here.
	Began     time.Time
	Current   *snapshot.Current
	Readiness Readiness
	Reloaded  func() (at time.Time, failure error) // the last one; zero before there was one
	Follows   *atomic.Bool                         // a file is followed
	Asks      chan chan error                      // to whoever follows it; each hears what came of it
	// Closed when the gateway is: a request for a reload must not wait for a follower that
	// has ended.
	Closed <-chan struct{}
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
	// Whole seconds are enough for an uptime, and keep the answer of two requests within
	// one second alike.
	st := process.Status{
		Version: r.Version, Started: r.Began.UTC(), Uptime: int64(time.Since(r.Began) / time.Second), Ready: why == "", Why: why,
		Checks: []process.Check{},
	}
	for _, text := range r.Readiness.Details(ctx) {
		st.Checks = append(st.Checks, checkOf(text))
	}
	// The digest is that of the part of the configuration which replicas have in common, so
	// that the digests of two replicas can be compared: names, addresses and directories of
	// one machine are not in it.
	if s := r.Current.Load(); s != nil {
		st.Agents, st.Config.Digest = len(s.Config.Agents), "sha256:"+hex.EncodeToString(s.Config.Common[:])
	}
	// A failed reload leaves the former configuration in force. Its error is shown until
	// the next reload, as operators otherwise take the new file for the running one.
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
	// A line is "audit: ok" or "state: failed: connection refused": the reason may have
	// colons of its own, so only the first ones are looked at.
	name, result, _ := strings.Cut(text, ": ")
	why, failed := strings.CutPrefix(result, "failed: ")
	if !failed {
		why = ""
	}
	return process.Check{Name: name, OK: !failed, Why: why}
}

// Config implements process.Running. It is the configuration as loaded, with defaults
// filled in and secrets replaced.
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
	// The channel has room for one error: the follower answers without waiting, even where
	// the operator has gone in the meantime.
	done := make(chan error, 1)
	// Once the question has been handed over, asks is nil: a send on a nil channel never
	// proceeds, so that the loop then waits for the answer alone.
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
