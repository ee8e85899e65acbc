package anomaly

import (
	"io"
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestMetricsKnowTheDetectors: each is a value of the label, and none is another's.
func TestMetricsKnowTheDetectors(t *testing.T) {
	t.Parallel()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close(t.Context())
	for _, name := range detectorNames() {
		tel.Metrics.Anomalies.Count(name, "", false)
	}
	families, err := tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var counted []string
	for _, family := range families {
		if family.GetName() != "a2a_gateway_anomalies_active" {
			continue
		}
		for _, m := range family.GetMetric() {
			counted = append(counted, m.GetLabel()[0].GetValue())
		}
	}
	want := detectorNames()
	slices.Sort(want)
	if slices.Sort(counted); !slices.Equal(counted, want) {
		t.Errorf("metrics know the detectors %q, want %q", counted, want)
	}
}
