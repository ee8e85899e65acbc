package push

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, want string
		in         Config
	}{
		{name: "empty"},
		{name: "relay", in: Config{Mode: "relay", Challenge: "required"}},
		{"mode", `mode: "forward" is not one of off, passthrough, relay`, Config{Mode: "forward"}},
		{"challenge", `challenge: "on" is not one of off, required`, Config{Challenge: "on"}},
		{"payload", `payload: "both" is not one of task, event`, Config{Payload: "both"}},
		{"negative", "perTask: -1 is less than 0", Config{PerTask: -1}},
		{"allow", `allow: "https://hooks.example" is neither`, Config{Allow: []string{"https://hooks.example"}}},
		{"negative rate", "perTarget.rate: -1 is less than 0", Config{PerTarget: PerTarget{Rate: -1}}},
		{"short timeout", "attempts.timeout: 1ms is not within 1s and 1m",
			Config{Attempts: Attempts{Timeout: quantity.Duration(time.Millisecond)}}},
		{"short first pause", "attempts.first: 1ms is less than 10ms",
			Config{Attempts: Attempts{First: quantity.Duration(time.Millisecond)}}},
		{"longest below first", "attempts.longest: 1s is less than attempts.first, 1m",
			Config{Attempts: Attempts{First: quantity.Duration(time.Minute), Longest: quantity.Duration(time.Second)}}},
		{"ends before it begins", "attempts.for: 1s is less than attempts.first, 1m",
			Config{Attempts: Attempts{First: quantity.Duration(time.Minute), For: quantity.Duration(time.Second)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.in.Validate()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestConfigModes makes sure that a section that is left out shows agents nothing of
// callers.
func TestConfigModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][2]bool{"": {false, true}, "off": {}, "passthrough": {true, false}, "relay": {false, true}} {
		if c := (Config{Mode: mode}); c.Passes() != want[0] || c.Relays() != want[1] {
			t.Errorf("mode %q: passes %v, relays %v", mode, c.Passes(), c.Relays())
		}
	}
}
