package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// holders are the instances that tasks were first seen at.
func holders(records []state.Record) map[string]string {
	m := make(map[string]string, len(records))
	for _, r := range records {
		m[r.ID] = r.Endpoint
	}
	return m
}
