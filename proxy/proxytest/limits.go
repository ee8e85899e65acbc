package proxytest

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// NewDenyingGateway starts a gateway where a deny rule asks something of a call.
func NewDenyingGateway(t testing.TB, expr string, edit ...func(*Setup)) *Gateway {
	t.Helper()
	return NewLimitedGateway(t, "", append([]func(*Setup){func(s *Setup) {
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "not so", Effect: "deny", Expr: expr})
	}}, edit...)...)
}

// Read is YAML as a configuration has it.
func Read[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	Must(t, yaml.Load([]byte(text), &v))
	return v
}

// NewLimitedGateway starts a gateway with limits, "" for none, where carol, dave and erin may call on
// every side.
func NewLimitedGateway(t testing.TB, lines string, edit ...func(*Setup)) *Gateway {
	t.Helper()
	w := NewGateway(t, append([]func(*Setup){func(s *Setup) {
		s.Policy.Rules[0].Subjects = nil
		s.Bound = map[string]string{"carol": "rec", "dave": "rec", "erin": "rec"}
		if lines != "" {
			s.Limits = Read[limits.Config](t, lines)
		}
	}}, edit...)...)
	w.Agent.Answers(Fluent)
	return w
}
