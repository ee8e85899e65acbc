package upstream

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// Load says how the gateway spreads calls over an agent's instances, and what it does when some
// or all of them fail. Without instances only the circuit breaker and the timeouts matter.
type Load struct {
	// Instances lists the sources of the agent's instances. The gateway uses the instances of all
	// sources together. Without any source, the agent has one instance: the address that its card
	// names.
	//
	// The gateway connects to an instance, but keeps the URL, the Host header and the TLS name of
	// the card's interface. Anyone who can write this section, or control the names in it, decides
	// where calls go, because the instances need not be at the card's origin.
	Instances []Instances `yaml:"instances"`

	// Affinity keeps calls on a task at the instance that has the task.
	Affinity Affinity `yaml:"affinity"`

	// Health has the gateway check every instance at intervals (active health checks).
	Health Health `yaml:"health"`

	// Ejection keeps calls from instances that failed calls (outlier ejection).
	Ejection Ejection `yaml:"ejection"`

	// Breaker is the circuit breaker of each instance, or of an agent without instances. While it
	// is open, the gateway answers 503 at once, without one more timeout.
	Breaker Breaker `yaml:"breaker"`

	// Retry says which calls the gateway sends again, to another instance.
	Retry Retry `yaml:"retry"`

	// Timeouts replace answerTimeout for single methods, by their names in A2A 1.0 or those of
	// extension methods.
	Timeouts map[string]quantity.Duration `yaml:"timeouts"`

	// Connections limits calls in flight to one instance. A further call goes to another instance,
	// or gets 503. Default: agents[].connections alone.
	Connections int `yaml:"connections"`

	// SlowStart is how long a new or returning instance takes to reach its full share of calls.
	// Default 10s.
	SlowStart quantity.Duration `yaml:"slowStart"`
}

// Instances is one source of instances: Static, or one of Config's.
type Instances struct {
	// Static lists instances as host or host:port. Without a port, that of the card's interface
	// applies.
	Static []string `yaml:"static"`

	// Config names another source.
	discovery.Config `yaml:",inline"`
}

// fixed is Static as a source finds it.
func (i Instances) fixed() []discovery.Instance {
	list := make([]discovery.Instance, 0, len(i.Static))
	for _, address := range i.Static {
		list = append(list, discovery.Instance{Address: address})
	}
	return list
}

// source makes the source, without asking it.
func (i Instances) source(o discovery.Options) (discovery.Source, error) {
	switch other := i.DNS != nil || i.Kubernetes != nil || i.File != ""; {
	case len(i.Static) > 0 && other:
		return nil, errors.New("static stands alone; another source is another entry")
	case other:
		return discovery.New(i.Config, o)
	case len(i.Static) == 0:
		return nil, errors.New("want one of static, dns, kubernetes and file")
	}
	return discovery.Static(i.fixed())
}

// validate reports what cannot work, at its key.
func (i Instances) validate(n int) error {
	if len(i.Static) > 0 {
		if _, err := i.source(discovery.Options{}); err != nil {
			return keypath.At(err, "instances", n, "static")
		}
		return nil
	}
	return keypath.At(i.Validate(), "instances", n)
}

// Affinity says which calls go to the instance that answered earlier calls.
type Affinity struct {
	// By lists task, context or both, or none alone. With task, the instance that showed a task
	// first gets the calls on it. With context, all calls of a context go to one instance as long
	// as the instances stay the same. Default: task and context.
	By []string `yaml:"by" jsonschema:"enum=task,enum=context,enum=none"`

	// Strict refuses a send on a task whose instance does not answer, because another instance
	// would not know the task. Set it to false for instances that share one store. Default true.
	Strict *bool `yaml:"strict"`
}

// What Affinity.By may hold.
const (
	byTask    = "task"
	byContext = "context"
	byNothing = "none"
)

// Health is the active health check of instances: a GET without credentials. An instance passes
// if it answers with a status below 500.
type Health struct {
	// Off turns the checks off. Then only calls show whether an instance works.
	Off bool `yaml:"off"`
	// Path that the check requests, at the card's scheme and host. Default: the card's own.
	Path string `yaml:"path"`
	// Port of the instance that the check connects to. Default: the instance's own, without one
	// the card's.
	Port int `yaml:"port"`
	// Interval between two checks of an instance, varied by up to a tenth. Default 10s.
	Interval quantity.Duration `yaml:"interval"`
	// Timeout of one check. Default 2s.
	Timeout quantity.Duration `yaml:"timeout"`
	// Healthy is how many checks in a row an instance must pass before it gets calls again.
	// Default 2.
	Healthy int `yaml:"healthy"`
	// Unhealthy is how many checks in a row an instance must fail before it gets no more calls.
	// Default 3.
	Unhealthy int `yaml:"unhealthy"`
}

// Ejection takes an instance out of load balancing after failures: connections that cannot be
// made or that break, late response headers, and Statuses.
type Ejection struct {
	// Off turns ejection off.
	Off bool `yaml:"off"`
	// Failures in a row that eject an instance. Default 5.
	Failures int `yaml:"failures"`
	// Within is how long ago the first of these failures may be. Default 10s.
	Within quantity.Duration `yaml:"within"`
	// For is how long the first ejection of an instance lasts. Each further ejection in a row
	// lasts twice as long, up to ten times this value. Default 30s.
	For quantity.Duration `yaml:"for"`
	// Most is how many percent of the instances may be ejected at once. Of two or more instances,
	// one may always be. Default 50.
	Most int `yaml:"most"`
	// Statuses of answers that count as failures. Default all from 500 to 599 but 501, which
	// agents answer for a method that they do not have. On gRPC, 500 stands for UNKNOWN, INTERNAL
	// and DATA_LOSS, 501 for UNIMPLEMENTED, 503 for UNAVAILABLE, 504 for DEADLINE_EXCEEDED.
	// Statuses other than 502, 503 and 504 eject no instance if only one caller gets them while
	// other callers have calls at that instance.
	Statuses []int `yaml:"statuses"`
}

// counts reports whether an answer of this status is a failure.
func (e *Ejection) counts(status int) bool {
	if e.Statuses != nil {
		return slices.Contains(e.Statuses, status)
	}
	return failing(status)
}

// Breaker opens after failures: connections that cannot be made or that break, late response
// headers, and 502, 503 and 504. It rejects the calls of all callers. So other statuses do not
// count: an agent with a bug in one call can still serve the others.
type Breaker struct {
	// Off turns the circuit breaker off.
	Off bool `yaml:"off"`
	// Failures in a row that open the circuit. Default 5.
	Failures int `yaml:"failures"`
	// Within is how long ago the first of these failures may be. Default 10s.
	Within quantity.Duration `yaml:"within"`
	// For is how long the circuit stays open. Then the gateway lets one call through, whose result
	// decides. Default 5s.
	For quantity.Duration `yaml:"for"`
}

// Retry says when the gateway sends a call again, to another instance. It retries any call of
// which it has written nothing. It retries calls without side effects after a broken connection
// or one of the statuses, as long as it has passed nothing of the answer on.
type Retry struct {
	// Attempts in all; with 1, the gateway retries nothing. Default 2.
	Attempts int `yaml:"attempts"`
	// Budget limits retries, in percent of the calls of the last ten seconds. Three a second are
	// always permitted. Default 10.
	Budget int `yaml:"budget"`
	// Statuses after which the gateway retries a call without side effects. Default 502, 503 and
	// 504.
	Statuses []int `yaml:"statuses"`
}

// settled is l with its defaults.
//
// It is a copy, and what was written stays as it was written.
func (l Load) settled() Load {
	if len(l.Affinity.By) == 0 {
		l.Affinity.By = []string{byTask, byContext}
	}
	h, e, b, r := &l.Health, &l.Ejection, &l.Breaker, &l.Retry
	for _, n := range []struct {
		value *int
		def   int
	}{
		{&h.Healthy, 2}, {&h.Unhealthy, 3}, {&e.Failures, 5}, {&e.Most, 50}, {&b.Failures, 5},
		{&r.Attempts, 2}, {&r.Budget, 10},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
	}
	for _, d := range []struct {
		value *quantity.Duration
		def   time.Duration
	}{
		{&h.Interval, 10 * time.Second}, {&h.Timeout, 2 * time.Second},
		{&e.Within, 10 * time.Second}, {&e.For, 30 * time.Second},
		{&b.Within, 10 * time.Second}, {&b.For, 5 * time.Second}, {&l.SlowStart, 10 * time.Second},
	} {
		*d.value = quantity.Duration(orDefault(*d.value, d.def))
	}
	if len(r.Statuses) == 0 {
		r.Statuses = []int{502, 503, 504}
	}
	return l
}

// strict is Affinity.Strict with its default.
func (a Affinity) strict() bool { return a.Strict == nil || *a.Strict }

// validate reports the first thing wrong, at its key.
func (l Load) validate() error {
	for n, source := range l.Instances {
		if err := source.validate(n); err != nil {
			return err
		}
	}
	for i, by := range l.Affinity.By {
		if !oneOf(by, byTask, byContext, byNothing) {
			return keypath.At(keypath.Point(fmt.Errorf("%q is none of %s, %s and %s", by, byTask, byContext, byNothing), i), "affinity", "by")
		}
	}
	if len(l.Affinity.By) > 1 && slices.Contains(l.Affinity.By, byNothing) {
		return wrong(keypath.Of("affinity", "by"), "%s stands alone", byNothing)
	}
	if p := l.Health.Path; p != "" && (!strings.HasPrefix(p, "/") || strings.ContainsAny(p, "#\r\n ")) {
		return wrong(keypath.Of("health", "path"), "%q is not a path", p)
	}
	for _, n := range []struct {
		key         keypath.Path
		value, most int
	}{
		{keypath.Of("connections"), l.Connections, 1 << 30},
		{keypath.Of("health", "port"), l.Health.Port, 65535},
		{keypath.Of("health", "healthy"), l.Health.Healthy, 1000},
		{keypath.Of("health", "unhealthy"), l.Health.Unhealthy, 1000},
		{keypath.Of("ejection", "failures"), l.Ejection.Failures, 1000},
		{keypath.Of("ejection", "most"), l.Ejection.Most, 100},
		{keypath.Of("breaker", "failures"), l.Breaker.Failures, 1000},
		{keypath.Of("retry", "attempts"), l.Retry.Attempts, mostAttempts},
		{keypath.Of("retry", "budget"), l.Retry.Budget, 100},
	} {
		if n.value < 0 || n.value > n.most {
			return wrong(n.key, "%d is not between 0 and %d", n.value, n.most)
		}
	}
	for _, s := range []struct {
		key  keypath.Path
		list []int
	}{{keypath.Of("retry", "statuses"), l.Retry.Statuses}, {keypath.Of("ejection", "statuses"), l.Ejection.Statuses}} {
		for _, status := range s.list {
			if status < 400 || status > 599 {
				return wrong(s.key, "%d is not the status of an error", status)
			}
		}
	}
	for _, method := range sortedKeys(l.Timeouts) {
		if method == "" || l.Timeouts[method] <= 0 {
			return wrong(keypath.Of("timeouts", method), "wants a method and a duration")
		}
	}
	return nil
}
