package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestSamplerOfTheEnvironment: OTEL_TRACES_SAMPLER decides where the configuration says
// nothing, and strangers decide for themselves with none of its values.
func TestSamplerOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, arg                          string
		fresh, stranger, forced, forbidden bool // sampled: a new trace, a stranger's, trusted callers'
	}{
		{"", "", true, true, true, false},
		{"always_on", "", true, true, true, true},
		{"always_off", "", false, false, false, false},
		{"traceidratio", "0", false, false, false, false},
		{"traceidratio", "1", true, true, true, true},
		{"parentbased_always_on", "", true, true, true, false},
		{"parentbased_always_off", "", false, false, true, false},
		{"parentbased_traceidratio", "", true, true, true, false},
		{"parentbased_traceidratio", "0", false, false, true, false},
	} {
		t.Run(c.name+c.arg, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_SAMPLER", c.name)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", c.arg)
			tel := opened(t, io.Discard, func(config *Config) { config.Traces.Exporter = tracetest.NewNoopExporter() })
			for _, call := range []struct {
				what    string
				parent  string
				trusted bool
				want    bool
			}{
				{"new", "", false, c.fresh},
				{"stranger who forces", sampled, false, c.stranger},
				{"stranger who forbids", unsampled, false, c.stranger},
				{"trusted who forces", sampled, true, c.forced},
				{"trusted who forbids", unsampled, true, c.forbidden},
			} {
				h := http.Header{}
				if call.parent != "" {
					h = incoming(call.parent)
				}
				e := sample()
				tel.StartServer(t.Context(), h, call.trusted, e)
				if got := e.Sampled(); got != call.want {
					t.Errorf("%s: sampled %v, want %v", call.what, got, call.want)
				}
				tel.Record(e)
			}
		})
	}
}

func TestSamplerThatIsNone(t *testing.T) {
	for _, c := range [][2]string{{"jaeger_remote", ""}, {"parentbased_", "x"}, {"traceidratio", "half"}, {"traceidratio", "2"}, {"traceidratio", "NaN"}} {
		t.Setenv("OTEL_TRACES_SAMPLER", c[0])
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", c[1])
		config := Config{Traces: Traces{Exporter: tracetest.NewNoopExporter()}}
		tel, err := Open(t.Context(), config, "test")
		if c[0] == "parentbased_" {
			closed(t, tel) // the same as nothing
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "OTEL_TRACES_SAMPLER") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestA28_StrangersDoNotChooseWhatIsTraced: samplers by ratio go by the trace id, which
// the caller chooses.
func TestA28_StrangersDoNotChooseWhatIsTraced(t *testing.T) {
	t.Parallel()
	tel, _ := traced(t, 0.01)
	const calls = 2000
	counted := 0
	for i := range calls {
		e := sample()
		parent := fmt.Sprintf("00-%016x%016x-%s-01", i+1, 0, parentID) // the lowest of all, always below the ratio
		tel.StartServer(t.Context(), incoming(parent), false, e)
		if e.Sampled() {
			counted++
		}
	}
	if counted > calls/10 {
		t.Errorf("%d of %d calls are traced, with a ratio of 0.01", counted, calls)
	}
}

// TestReloadFallsBackToTheEnvironment: who takes the ratio out of the file gets what the
// environment says.
func TestReloadFallsBackToTheEnvironment(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	all := 1.0
	tel := opened(t, io.Discard, func(c *Config) {
		c.Traces = Traces{SampleRatio: &all, Exporter: tracetest.NewNoopExporter()}
	})
	for _, c := range []struct {
		ratio *float64
		want  bool
	}{{&all, true}, {nil, false}, {&all, true}} {
		if err := tel.Reload(Config{Traces: Traces{SampleRatio: c.ratio}}); err != nil {
			t.Fatal(err)
		}
		e := sample()
		tel.StartServer(t.Context(), http.Header{}, false, e)
		if e.Sampled() != c.want {
			t.Errorf("sampled %v, want %v", e.Sampled(), c.want)
		}
	}
}
