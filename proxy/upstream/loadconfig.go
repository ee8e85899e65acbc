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

// Load says how calls are spread over an agent's instances, and what happens when
// some of them, or all, fail. Without instances only the breaker and the timeouts
// matter.
type Load struct {
	// Instances says where the agent's instances are. What several sources find counts
	// together. Without any the agent is one instance: the address its card names.
	//
	// Calls keep the URL, the Host header and the TLS name of the card's interface and
	// are dialled to an instance. Who writes this section, or answers for the names in
	// it, decides where calls go: these addresses are not held to the card's origin.
	Instances []Instances `yaml:"instances"`

	// Affinity keeps calls on a task with the instance that has it.
	Affinity Affinity `yaml:"affinity"`

	// Health asks every instance now and then whether it is there.
	Health Health `yaml:"health"`

	// Ejection leaves instances alone that fail calls.
	Ejection Ejection `yaml:"ejection"`

	// Breaker answers for an instance, or an agent without instances, that fails: 503
	// at once, instead of one more timeout.
	Breaker Breaker `yaml:"breaker"`

	// Retry sends what may be sent again to another instance.
	Retry Retry `yaml:"retry"`

	// Timeouts are answerTimeout for single methods, by their 1.0 names or those that
	// extensions bring.
	Timeouts map[string]quantity.Duration `yaml:"timeouts"`

	// Connections limits calls in flight to one instance; a further one goes to another,
	// or is answered 503. Default: agents[].connections alone.
	Connections int `yaml:"connections"`

	// SlowStart is how long the share of an instance that has come, or come back,
	// grows until it is whole. Default 10s.
	SlowStart quantity.Duration `yaml:"slowStart"`
}

// Instances is one source of instances: Static, or one of Config's.
type Instances struct {
	// Static lists them: host or host:port, without a port at the interface's own.
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

// Affinity is what a call shares with calls before it, and with the instance that
// answered those.
type Affinity struct {
	// By lists task (the instance that showed a task first gets the calls on it),
	// context (the first call of a context, and all that follow, go to one instance as
	// long as the instances stay the same), or none alone. Default: task and context.
	By []string `yaml:"by" jsonschema:"enum=task,enum=context,enum=none"`

	// Strict refuses a send on a task whose instance does not answer, rather than to
	// let another have it that does not know the task. Instances with one store
	// between them need not be strict. Default true.
	Strict *bool `yaml:"strict"`
}

// What Affinity.By may hold.
const (
	byTask    = "task"
	byContext = "context"
	byNothing = "none"
)

// Health is the active check of each instance: a GET, without credentials, that has to be
// answered with a status below 500.
type Health struct {
	// Off asks nobody: calls alone tell how instances are.
	Off bool `yaml:"off"`
	// Path is asked for at the card's scheme and host. Default: the card's own.
	Path string `yaml:"path"`
	// Port of the instances that is asked. Default: the instance's own, without one
	// the card's.
	Port int `yaml:"port"`
	// Interval between two checks of an instance, a tenth more or less. Default 10s.
	Interval quantity.Duration `yaml:"interval"`
	// Timeout of one check. Default 2s.
	Timeout quantity.Duration `yaml:"timeout"`
	// Healthy is how many checks in a row have to go well until an instance gets calls
	// again. Default 2.
	Healthy int `yaml:"healthy"`
	// Unhealthy is how many have to fail until it gets no more. Default 3.
	Unhealthy int `yaml:"unhealthy"`
}

// Ejection takes an instance out that fails calls: connections that do not come
// about or break, heads of answers that are late, and Statuses.
type Ejection struct {
	// Off ejects nobody.
	Off bool `yaml:"off"`
	// Failures in a row. Default 5.
	Failures int `yaml:"failures"`
	// Within is how long ago the first of them may be. Default 10s.
	Within quantity.Duration `yaml:"within"`
	// For is how long the instance stays out, the first time; twice as long each
	// further time, up to ten times. Default 30s.
	For quantity.Duration `yaml:"for"`
	// Most is how many of the instances may be out, in percent; one always may where
	// there are two. Default 50.
	Most int `yaml:"most"`
	// Statuses of answers that count as failures. Default all from 500 to 599 but 501, with
	// which agents say that they do not have a method. On gRPC they stand for the codes
	// that mean the same: 500 for UNKNOWN, INTERNAL and DATA_LOSS, 501 for UNIMPLEMENTED,
	// 503 for UNAVAILABLE, 504 for DEADLINE_EXCEEDED. Where other callers have calls at the
	// instance as well, those of one caller alone eject nobody, but for 502, 503 and 504.
	Statuses []int `yaml:"statuses"`
}

// counts reports whether an answer of this status is a failure.
func (e *Ejection) counts(status int) bool {
	if e.Statuses != nil {
		return slices.Contains(e.Statuses, status)
	}
	return failing(status)
}

// Breaker opens after failures: connections that do not come about or break, heads of
// answers that are late, and 502, 503 and 504. It keeps all calls away, and so does not count
// what an agent with a bug in one call answers to whoever makes that.
type Breaker struct {
	// Off never opens it.
	Off bool `yaml:"off"`
	// Failures in a row that open it. Default 5.
	Failures int `yaml:"failures"`
	// Within is how long ago the first of them may be. Default 10s.
	Within quantity.Duration `yaml:"within"`
	// For is how long it stays open. Then one call goes through, and decides. Default 5s.
	For quantity.Duration `yaml:"for"`
}

// Retry says when a call is sent once more, to another instance: any call of which
// nothing was written, and calls that change nothing after a broken connection or one
// of the statuses, as long as nothing of the answer has been passed on.
type Retry struct {
	// Attempts in all; 1 sends nothing again. Default 2.
	Attempts int `yaml:"attempts"`
	// Budget is how many further attempts there may be, in percent of the calls of the
	// last ten seconds; three a second always may. Default 10.
	Budget int `yaml:"budget"`
	// Statuses after which a call that changes nothing is sent again. Default 502, 503
	// and 504.
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
