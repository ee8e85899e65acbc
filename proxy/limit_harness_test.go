package proxy_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// limiter is what the setup's limits make, nil for none.
func (w *world) limiter(s *setup, agents []string) *limits.Limiter {
	w.Helper()
	if len(s.limits.Each) == 0 {
		return nil
	}
	local := state.NewMemory(state.Config{})
	w.Cleanup(func() { _ = local.Close() })
	l, err := limits.New(s.limits, limits.Options{
		Agents: agents, Store: s.counts, Local: local, Log: w.tel.Log, Fell: w.tel.Metrics.Policy.LimitUncounted,
	})
	must(w, err)
	w.Cleanup(l.Close)
	return l
}

// panel is what the setup's authorizers make, nil for none.
func (w *world) panel(s *setup, agents []string) *pdp.Panel {
	w.Helper()
	if len(s.authorizers) == 0 {
		return nil
	}
	p, err := pdp.New(s.authorizers, pdp.Options{
		Agents: agents, Gateway: s.server.ID, Log: w.tel.Log, Asked: w.tel.Metrics.Policy.AuthorizerAsked,
	})
	must(w, err)
	w.Cleanup(p.Close)
	return p
}

// name adds what bounds calls to the labels of metrics.
func (s *setup) name(labels *metrics.Labels) {
	for _, l := range s.limits.Each {
		labels.Limits = append(labels.Limits, l.Name)
	}
	for _, a := range s.authorizers {
		labels.Authorizers = append(labels.Authorizers, a.Name)
	}
}

// read is YAML as a configuration has it.
func read[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	must(t, yaml.Load([]byte(text), &v))
	return v
}

// limited builds a world with limits, "" for none, where carol, dave and erin may call on
// every side.
func limited(t testing.TB, lines string, edit ...func(*setup)) *world {
	t.Helper()
	w := build(t, append([]func(*setup){func(s *setup) {
		s.policy.Rules[0].Subjects = nil
		s.bound = map[string]string{"carol": "rec", "dave": "rec", "erin": "rec"}
		if lines != "" {
			s.limits = read[limits.Config](t, lines)
		}
	}}, edit...)...)
	w.agent.answers(fluent)
	return w
}

// lost is a store that cannot be reached.
type lost struct{}

func (lost) Draw(context.Context, []state.Draw) ([]state.Drawn, error) {
	return nil, fmt.Errorf("%w: dial tcp 192.0.2.1:6379", state.ErrUnavailable)
}

func (lost) Release(context.Context, []state.Draw) error {
	return fmt.Errorf("%w: dial tcp 192.0.2.1:6379", state.ErrUnavailable)
}

// lastRecord waits for n records of calls and gives the last.
func (w *world) lastRecord(n int) map[string]any {
	w.Helper()
	var all []map[string]any
	eventually(w, "record", func() bool { all = w.audited("call"); return len(all) >= n })
	return all[len(all)-1]
}

// free waits until a caller has room for a call, whose agent answers it at once.
func (w *world) free(who, after string) {
	w.Helper()
	w.agent.answers(fluent)
	deadline := time.Now().Add(patience)
	for {
		got := w.call(who, "SendMessage", message(""))
		if got.status != 429 {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("after %s there is no room: %s", after, got.body)
		}
		time.Sleep(time.Millisecond)
	}
}
