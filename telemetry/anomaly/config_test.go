package anomaly

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	if err := new(Config).Check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for want, change := range map[string]func(*Config){
		`telemetry.anomalies.denials.action: "on" is none of off, report, throttle`: func(c *Config) { c.Denials.Action = "on" },
		`telemetry.anomalies.denials.threshold: -1 is not between 1 and 1000000`:    func(c *Config) { c.Denials.Threshold = -1 },
		`telemetry.anomalies.probing.threshold: 101 is not between 1 and 100`:       func(c *Config) { c.Probing.Threshold = 101 },
		`telemetry.anomalies.cards.action: there is no caller to throttle: off or report`: func(c *Config) {
			c.Cards.Action = actionThrottle
		},
		`telemetry.anomalies.agentCancels.action: there is no caller to throttle: off or report`: func(c *Config) {
			c.AgentCancels.Action = actionThrottle
		},
		`telemetry.anomalies.cancels.window: 1ms is not between 1s and 31d`: func(c *Config) {
			c.Cancels.Window = quantity.Duration(time.Millisecond)
		},
		`telemetry.anomalies.openTasks.throttle: 2d is not between 1s and 1d`: func(c *Config) {
			c.OpenTasks.Throttle = quantity.Duration(2 * day)
		},
		`telemetry.anomalies.skills.learning: 1s is not between 1m and 366d`: func(c *Config) {
			c.Skills.Learning = quantity.Duration(time.Second)
		},
		`telemetry.anomalies.callers: 1 is not between 8 and 1048576`: func(c *Config) { c.Callers = 1 },
		`telemetry.anomalies.tasks: -5 is not between 8 and 1048576`:  func(c *Config) { c.Tasks = -5 },
	} {
		var c Config
		change(&c)
		if err := c.Check(); err == nil || strings.TrimSpace(err.Error()) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
