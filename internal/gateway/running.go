package gateway

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

// running is the gateway as a whole, as the console sees it.
type running struct {
	*Gateway

	version string
}

// Status implements console.Running.
func (r running) Status(ctx context.Context) console.Status {
	why := r.status.unready()
	st := console.Status{
		Version: r.version, Started: r.began.UTC(), Uptime: int64(time.Since(r.began) / time.Second), Ready: why == "", Why: why,
		Checks: []console.Check{},
	}
	for _, text := range r.status.details(ctx) {
		st.Checks = append(st.Checks, checkOf(text))
	}
	if s := r.current.Load(); s != nil {
		st.Agents, st.Config.Digest = len(s.config.Agents), "sha256:"+hex.EncodeToString(s.config.Common[:])
	}
	if last := r.reload.Load(); last != nil {
		st.Config.Reloaded = last.at.UTC()
		if last.err != nil {
			st.Config.Failure = last.err.Error()
		}
	}
	return st
}

// checkOf reads a line of details.
func checkOf(text string) console.Check {
	name, result, _ := strings.Cut(text, ": ")
	why, failed := strings.CutPrefix(result, "failed: ")
	if !failed {
		why = ""
	}
	return console.Check{Name: name, OK: !failed, Why: why}
}

// Config implements console.Running.
func (r running) Config() (jsontext.Value, error) {
	s := r.current.Load()
	if s == nil {
		return nil, errClosed
	}
	return s.config.Show()
}

// Reload implements console.Running. It is done by who follows the file, so that one
// change of it is one reload, and goes on when the operator does not wait any more.
func (r running) Reload(ctx context.Context) error {
	if !r.follows.Load() {
		return console.ErrNoFile
	}
	done := make(chan error, 1)
	for asks := r.asks; ; asks = nil {
		select {
		case asks <- done:
		case err := <-done:
			if err != nil {
				return console.ConfigInvalid{Err: err}
			}
			return nil
		case <-r.closed:
			return errClosed
		case <-ctx.Done():
			return fmt.Errorf("reload: %w", ctx.Err())
		}
	}
}
