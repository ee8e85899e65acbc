package anomaly

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is the telemetry.anomalies section of the configuration file. Each gateway counts for
// itself, even if several share a state.
type Config struct {
	// Denials: refusals of one caller, for any reason except limits and extensions: 401, 403,
	// agents and tasks that do not exist for the caller. The gateway counts a client that showed
	// no good credential by its address. Default 100 in 1m.
	Denials Detector `yaml:"denials"`

	// Probing: different ids of tasks that one caller has asked for and that are absent or
	// somebody else's; at most 100. Default 20 in 10m.
	Probing Detector `yaml:"probing"`

	// Skills: calls of one caller to agents and skills that it has not used before. Default 1 in
	// 1h.
	Skills Learned `yaml:"skills"`

	// Cards: changes of one agent's card. Default 1 in 1d.
	Cards Reported `yaml:"cards"`

	// Cancels: cancellations by one caller. Default 60 in 1m.
	Cancels Detector `yaml:"cancels"`

	// AgentCancels: cancellations on one agent, by all callers. Default 300 in 1m.
	AgentCancels Reported `yaml:"agentCancels"`

	// OpenTasks: tasks that one caller began within the window and that have not ended.
	// Default 200 in 1h.
	OpenTasks Detector `yaml:"openTasks"`

	// Callers is how many callers each detector remembers. Above that, it forgets those that have
	// been silent for longest. Default 4096, restart to change.
	Callers int `yaml:"callers" reload:"restart"`

	// Tasks is how many open tasks the gateway remembers. Above that, those not heard of for
	// longest count as ended. Default 32768, restart to change.
	Tasks int `yaml:"tasks" reload:"restart"`
}

// Reported is a detector that can only report, because no single caller is responsible.
type Reported struct {
	// Action is what the gateway does about an anomaly: off, report or, where one caller is
	// responsible, throttle. With report, it writes audit events, metrics and a line in the log
	// when the anomaly begins and ends. With throttle, it also answers further calls of the kind
	// with 429. Default report.
	Action string `yaml:"action" jsonschema:"enum=off,enum=report"`

	// Threshold is how many events within the window make an anomaly. It ends when there are less
	// than half as many.
	Threshold int `yaml:"threshold"`

	// Window is how long each event counts, to an eighth; 1s to 31d.
	Window quantity.Duration `yaml:"window"`
}

// Detector is a detector of what one caller does.
type Detector struct {
	Reported `yaml:",inline"`

	// Throttle is how long the gateway refuses the caller's calls; 1s to 1d. Default 1m.
	Throttle quantity.Duration `yaml:"throttle"`
}

// Learned is a detector that must first learn what is usual.
type Learned struct {
	Detector `yaml:",inline"`

	// Learning is how long the gateway watches a caller before anything about it is unusual; 1m to
	// 366d. What the caller has not used for as long is unusual again. Default 14d.
	Learning quantity.Duration `yaml:"learning"`
}

// Names of detectors: those of their keys.
const (
	nameDenials      = "denials"
	nameProbing      = "probing"
	nameSkills       = "skills"
	nameCards        = "cards"
	nameCancels      = "cancels"
	nameAgentCancels = "agentCancels"
	nameOpenTasks    = "openTasks"
)

// detectorNames lists the names of all detectors.
func detectorNames() []string {
	return []string{nameDenials, nameProbing, nameSkills, nameCards, nameCancels, nameAgentCancels, nameOpenTasks}
}

// Values of Reported.Action.
const (
	actionOff      = "off"
	actionReport   = "report"
	actionThrottle = "throttle"
)

const (
	defaultCallers  = 4096
	defaultTasks    = 32768
	defaultThrottle = time.Minute
	defaultLearning = 14 * day

	day        = 24 * time.Hour
	maxWindow  = 31 * day
	maxLearn   = 366 * day
	maxCount   = 1_000_000
	maxSketch  = 100 // what a sketch can tell apart
	maxKept    = 1 << 20
	minWindow  = time.Second
	minLearn   = time.Minute
	minCallers = ways
)

// settings are a detector's, with what is not configured filled in.
// It is comparable, so that a reload can tell whether anything changed.
type settings struct {
	action           string
	threshold        int
	window, throttle time.Duration
	learning         time.Duration // of skills
}

func (r *Reported) settings(threshold int, window time.Duration) settings {
	s := settings{action: r.Action, threshold: r.Threshold, window: r.Window.Std()}
	if s.action == "" {
		s.action = actionReport
	}
	if s.threshold == 0 {
		s.threshold = threshold
	}
	if s.window == 0 {
		s.window = window
	}
	return s
}

func (d *Detector) settings(threshold int, window time.Duration) settings {
	s := d.Reported.settings(threshold, window)
	if s.throttle = d.Throttle.Std(); s.throttle == 0 {
		s.throttle = defaultThrottle
	}
	return s
}

func (l *Learned) settings(threshold int, window time.Duration) settings {
	s := l.Detector.settings(threshold, window)
	if s.learning = l.Learning.Std(); s.learning == 0 {
		s.learning = defaultLearning
	}
	return s
}

// all are the settings of every detector by its name.
// Defaults differ by detector and are written here and in the comments of the fields.
func (c *Config) all() map[string]settings {
	return map[string]settings{
		nameDenials:      c.Denials.settings(100, time.Minute),
		nameProbing:      c.Probing.settings(20, 10*time.Minute),
		nameSkills:       c.Skills.settings(1, time.Hour),
		nameCards:        c.Cards.settings(1, day),
		nameCancels:      c.Cancels.settings(60, time.Minute),
		nameAgentCancels: c.AgentCancels.settings(300, time.Minute),
		nameOpenTasks:    c.OpenTasks.settings(200, time.Hour),
	}
}

func (c *Config) callers() int {
	if c.Callers == 0 {
		return defaultCallers
	}
	return c.Callers
}

func (c *Config) tasks() int {
	if c.Tasks == 0 {
		return defaultTasks
	}
	return c.Tasks
}

// Check reports every value that New would refuse.
// Errors carry the path of their key.
func (c *Config) Check() error {
	var errs []error
	all := c.all()
	for _, name := range detectorNames() {
		errs = append(errs, all[name].check(name)...)
	}
	if n := c.callers(); n < minCallers || n > maxKept {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between %d and %d", n, minCallers, maxKept), "telemetry", "anomalies", "callers"))
	}
	if n := c.tasks(); n < minCallers || n > maxKept {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between %d and %d", n, minCallers, maxKept), "telemetry", "anomalies", "tasks"))
	}
	return errors.Join(errs...)
}

// check reports what is out of bounds. Most bounds keep numbers meaningful and arithmetic safe; that
// of probing is what a sketch can tell apart, beyond which its threshold would never be reached.
func (s settings) check(name string) []error {
	var errs []error
	wrong := func(key, format string, args ...any) {
		errs = append(errs, keypath.At(fmt.Errorf(format, args...), "telemetry", "anomalies", name, key))
	}
	nobody := name == nameCards || name == nameAgentCancels
	switch {
	case s.action == actionThrottle && nobody:
		wrong("action", "there is no caller to throttle: off or report")
	case s.action != actionOff && s.action != actionReport && s.action != actionThrottle:
		wrong("action", "%q is none of off, report, throttle", s.action)
	}
	most := maxCount
	if name == nameProbing {
		most = maxSketch
	}
	if s.threshold < 1 || s.threshold > most {
		wrong("threshold", "%d is not between 1 and %d", s.threshold, most)
	}
	if s.window < minWindow || s.window > maxWindow {
		wrong("window", "%v is not between 1s and 31d", quantity.Duration(s.window))
	}
	if !nobody && (s.throttle < minWindow || s.throttle > day) {
		wrong("throttle", "%v is not between 1s and 1d", quantity.Duration(s.throttle))
	}
	if name == nameSkills && (s.learning < minLearn || s.learning > maxLearn) {
		wrong("learning", "%v is not between 1m and 366d", quantity.Duration(s.learning))
	}
	return errs
}
