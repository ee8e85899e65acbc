package limits_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read is a Config as it is written.
func read(t testing.TB, text string) limits.Config {
	t.Helper()
	var c limits.Config
	if err := yaml.Load([]byte(text), &c); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return c
}

// memory is a store that the test's end closes.
func memory(t testing.TB) *state.Memory {
	m := state.NewMemory(state.Config{})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func agents() []string { return []string{"billing", "support", "weather"} }

// limiter counts in a store by limits that are written as one line each.
func limiter(t testing.TB, o limits.Options, lines ...string) *limits.Limiter {
	t.Helper()
	o.Agents = agents()
	if o.Store == nil {
		o.Store = memory(t)
	}
	text := "each:\n"
	for _, line := range lines {
		if strings.HasPrefix(line, "{") {
			text += "  - " + line + "\n"
		} else {
			text = line + "\n" + text
		}
	}
	l, err := limits.New(read(t, text), o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(l.Close)
	return l
}

func method(t testing.TB, name string) *wire.Method {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}

// calls makes calls with ids of their own.
type calls struct {
	t testing.TB
	n int
}

func (c *calls) by(subject, agent, method_ string) *limits.Call {
	c.n++
	return &limits.Call{
		ID: fmt.Sprint("call-", c.n), Agent: agent, Method: method(c.t, method_),
		Principal: &authn.Principal{Subject: subject, Issuer: "https://login.example.com"},
		Source:    netip.MustParseAddr("192.0.2.7"), Within: 5 * time.Minute,
	}
}

// send is a call of Alice's.
func (c *calls) send() *limits.Call { return c.by("alice", "billing", wire.SendMessage) }

// with changes a call.
func with(c *limits.Call, change func(*limits.Call)) *limits.Call {
	change(c)
	return c
}

// admit reports whether a call is admitted, and by which limit it is not.
func admit(t testing.TB, l *limits.Limiter, c *limits.Call) (*limits.Pass, string) {
	t.Helper()
	p, err := l.Admit(t.Context(), c)
	if err == nil {
		return p, ""
	}
	var e *limits.Exceeded
	if !errors.As(err, &e) {
		t.Fatalf("Admit: %v", err)
	}
	return nil, e.Name
}
