package config

import (
	"reflect"
	"testing"
)

// TestFixed changes every text and number below the sections, and wants those told of that a
// restart is needed for, each by the key whose field says so.
func TestFixed(t *testing.T) {
	t.Parallel()
	if changed := new(Config).Fixed(&Config{}); changed != nil {
		t.Errorf("without a change: %v", changed)
	}
	var all Config
	fill(reflect.ValueOf(&all).Elem(), "", "x", map[string]reflect.Value{})
	all.Telemetry.Anomalies.Callers, all.Telemetry.Anomalies.Tasks = 1, 1
	want := []string{
		"server.id", "admin", "fleet.kubernetes", "streams.persist", "telemetry.audit", "telemetry.anomalies.callers",
		"telemetry.anomalies.tasks", "state", "keys",
	}
	got := new(Config).Fixed(&all)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].String() != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
