package push

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is the `push:` section.
type Config struct {
	// Mode is relay (the default), passthrough or off. With relay, the agent gets an address of
	// the gateway, which delivers in its place. With passthrough, push configs reach the agent
	// unchanged, and the agent calls the client's webhook itself. With off, cards and methods say
	// that push notifications are not supported.
	Mode string `yaml:"mode" jsonschema:"enum=off,enum=passthrough,enum=relay"`

	// Allow lists the hosts that webhooks may be on, as "hooks.example.com" or "*.example.com".
	// With none, webhooks may be on any host with a public address.
	Allow []string `yaml:"allow"`
	// Ports that webhooks may be on; default [443], with plaintext 80 as well, and with
	// allowPrivateNetworks every port.
	Ports []uint16 `yaml:"ports"`
	// Plaintext permits http webhooks as well as https; default false.
	Plaintext bool `yaml:"plaintext"`
	// AllowPrivateNetworks permits webhooks at addresses that are not public, including loopback;
	// default false. Anyone who may register a webhook can then make the gateway send requests to
	// everything it can reach (SSRF).
	AllowPrivateNetworks bool `yaml:"allowPrivateNetworks"`
	// CA is a PEM file of certificates that the gateway trusts for webhooks, besides the system's.
	CA string `yaml:"ca" file:"read"`

	// Challenge says whether a webhook must agree before it gets notifications: off (default) or
	// required. With required, the gateway sends one GET with the query parameter validationToken,
	// and the webhook must answer with that token.
	Challenge string `yaml:"challenge" jsonschema:"enum=off,enum=required"`

	// Body is the largest notification that the gateway accepts from an agent; default 1MiB.
	Body quantity.Size `yaml:"body"`
	// Age is how far the time in an agent's notification may differ from the gateway's clock;
	// default 5m.
	Age quantity.Duration `yaml:"age"`
	// PerTask is how many push configs a task may have; default 10.
	PerTask int `yaml:"perTask"`
	// PerPrincipal is how many push configs a principal may have, not counting those of tasks that
	// have ended; default 1000.
	PerPrincipal int `yaml:"perPrincipal"`
	// PerConfig is how many notifications of one push config the gateway accepts in a second, on
	// average; ten times as many may come at once. Default 20.
	PerConfig int `yaml:"perConfig"`
	// Payload is what a client of A2A before 1.0 gets when an agent of another version sends an
	// update. It is task (default; the whole task, which the gateway requests from the agent) or
	// event (the update itself, which many such clients do not understand).
	Payload string `yaml:"payload" jsonschema:"enum=task,enum=event"`
	// Queue is how many notifications may wait for delivery; default 100000. As many dead letters
	// are kept besides. Of each, one owner of webhooks may have at most as many as there is room
	// left, so at most half. A further dead letter replaces that owner's oldest.
	Queue int64 `yaml:"queue"`

	// InFlight is how many deliveries may be under way at once; default 128. One owner of webhooks
	// may have at most as many as there are places left, so at most half. Each gateway counts for
	// itself.
	InFlight int `yaml:"inFlight"`
	// Attempts say how often and how long the gateway tries to deliver a notification.
	Attempts Attempts `yaml:"attempts"`
	// Keep is how long the gateway keeps dead letters, which are notifications that it gave up;
	// default 7d.
	Keep quantity.Duration `yaml:"keep"`
	// PerTarget limits the deliveries to one target.
	PerTarget PerTarget `yaml:"perTarget"`
}

// Attempts is the `attempts:` section.
type Attempts struct {
	// First is the pause after the first attempt that failed. Each further pause is twice as long,
	// less a random part of up to half of it. Default 1s.
	First quantity.Duration `yaml:"first"`
	// Longest is the longest pause, even if the target asks for more; default 1h.
	Longest quantity.Duration `yaml:"longest"`
	// For is how long the gateway tries before it gives a notification up; default 24h.
	For quantity.Duration `yaml:"for"`
	// Timeout of an attempt, from 1s to 1m; default 15s.
	Timeout quantity.Duration `yaml:"timeout"`
}

// PerTarget is the `perTarget:` section. A target is the scheme, host and port of webhooks.
// Each gateway counts for itself.
type PerTarget struct {
	// InFlight is how many deliveries to a target may be under way at once; default 4. If several
	// owners have webhooks there, one may have at most as many as there are places left.
	InFlight int `yaml:"inFlight"`
	// Rate is how many deliveries to a target may begin in a second; default 50.
	Rate int `yaml:"rate"`
}

// The words of a configuration.
const (
	modeOff         = "off"
	modePassthrough = "passthrough"
	modeRelay       = "relay"

	payloadTask  = "task"
	payloadEvent = "event"

	challengeOff      = "off"
	challengeRequired = "required"
)

// Passes reports whether push configs reach agents as they are.
func (c Config) Passes() bool { return c.Mode == modePassthrough }

// Relays reports whether the gateway delivers in the place of agents.
func (c Config) Relays() bool { return c.Mode == modeRelay || c.Mode == "" }

// Tasks reports whether clients of before 1.0 get whole tasks.
func (c Config) Tasks() bool { return c.Payload != payloadEvent }

// Validate reports what cannot work, naming the key. It opens no file.
//
// Targets are validated by the same code that checks them later (internal/egress).
func (c Config) Validate() error {
	var errs []error
	switch c.Mode {
	case "", modeOff, modePassthrough, modeRelay:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is not one of off, passthrough, relay", c.Mode), "mode"))
	}
	switch c.Challenge {
	case "", challengeOff, challengeRequired:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is not one of off, required", c.Challenge), "challenge"))
	}
	switch c.Payload {
	case "", payloadTask, payloadEvent:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is not one of task, event", c.Payload), "payload"))
	}
	for _, n := range []struct {
		key   keypath.Path
		value int64
	}{
		{keypath.Of("perTask"), int64(c.PerTask)}, {keypath.Of("perPrincipal"), int64(c.PerPrincipal)}, {keypath.Of("perConfig"), int64(c.PerConfig)},
		{keypath.Of("queue"), c.Queue}, {keypath.Of("inFlight"), int64(c.InFlight)},
		{keypath.Of("perTarget", "inFlight"), int64(c.PerTarget.InFlight)}, {keypath.Of("perTarget", "rate"), int64(c.PerTarget.Rate)},
	} {
		if n.value < 0 {
			errs = append(errs, keypath.At(fmt.Errorf("%d is less than 0", n.value), n.key))
		}
	}
	reach := c.reach()
	reach.CA = ""
	_, err := egress.New(reach)
	return errors.Join(append(errs, err, c.complete().validateTimes())...)
}

// validateTimes expects defaults to be filled in.
func (c Config) validateTimes() error {
	a := c.Attempts
	switch {
	case a.Timeout.Std() < time.Second || a.Timeout.Std() > time.Minute:
		return keypath.At(fmt.Errorf("%s is not within 1s and 1m", a.Timeout), "attempts", "timeout")
	case a.First.Std() < 10*time.Millisecond:
		return keypath.At(fmt.Errorf("%s is less than 10ms", a.First), "attempts", "first")
	case a.Longest < a.First:
		return keypath.At(fmt.Errorf("%s is less than attempts.first, %s", a.Longest, a.First), "attempts", "longest")
	case a.For < a.First:
		return keypath.At(fmt.Errorf("%s is less than attempts.first, %s", a.For, a.First), "attempts", "for")
	}
	return nil
}

// CheckFiles reports a file that NewWorker would refuse.
func (c Config) CheckFiles() error {
	if !c.Relays() {
		return nil
	}
	client, err := egress.New(c.reach())
	if err != nil {
		return err
	}
	client.Close()
	return nil
}

// reach is where deliveries may go.
func (c Config) reach() egress.Options {
	c = c.complete()
	return egress.Options{
		AllowPrivate: c.AllowPrivateNetworks, AllowHosts: c.Allow, Ports: c.Ports, Plaintext: c.Plaintext, CA: c.CA,
		Timeout: c.Attempts.Timeout.Std(), PerHost: c.PerTarget.InFlight + 1, // one to spare for what is being closed
	}
}

// complete is c with the defaults in the place of what is zero.
func (c Config) complete() Config {
	c.Mode = orDefault(c.Mode, modeRelay)
	c.Challenge = orDefault(c.Challenge, challengeOff)
	c.Body = orDefault(c.Body, 1<<20)
	c.Age = orDefault(c.Age, quantity.Duration(5*time.Minute))
	c.PerTask = orDefault(c.PerTask, 10)
	c.PerPrincipal = orDefault(c.PerPrincipal, 1000)
	c.PerConfig = orDefault(c.PerConfig, 20)
	c.Payload = orDefault(c.Payload, payloadTask)
	c.Queue = orDefault(c.Queue, 100_000)
	c.InFlight = orDefault(c.InFlight, 128)
	c.Keep = orDefault(c.Keep, quantity.Duration(7*24*time.Hour))
	a := &c.Attempts
	a.First = orDefault(a.First, quantity.Duration(time.Second))
	a.Longest = orDefault(a.Longest, quantity.Duration(time.Hour))
	a.For = orDefault(a.For, quantity.Duration(24*time.Hour))
	a.Timeout = orDefault(a.Timeout, quantity.Duration(15*time.Second))
	t := &c.PerTarget
	t.InFlight = orDefault(t.InFlight, 4)
	t.Rate = orDefault(t.Rate, 50)
	return c
}

// orDefault is value, or otherwise where value is its zero value.
func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
