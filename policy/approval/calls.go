package approval

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Calls is `policy.approvals:`, about the calls that rules with effect approve have wait.
type Calls struct {
	// Wait is how long a call that is answered once waits for the answer to the approved call before its
	// caller gets the task that waits; up to 10m, default 3s. Some clients wait no longer than 5s.
	Wait quantity.Duration `yaml:"wait"`
	// PerCaller is how many calls of one caller may wait at a time; default 20.
	PerCaller int `yaml:"perCaller"`
	// Total is how many calls of all callers may wait at a time; default 1000.
	Total int `yaml:"total"`
	// Message bounds the request body of a call that waits, up to 4MiB; default 256KiB.
	Message quantity.Size `yaml:"message"`
	// Keep is how long the gateway remembers a call that nobody agreed to; default 24h.
	Keep quantity.Duration `yaml:"keep"`
	// Notify are the addresses that are told of each call that begins to wait.
	Notify []Notify `yaml:"notify"`
}

// Notify is one of policy.approvals.notify.
type Notify struct {
	// URL gets a POST for each call that begins to wait: its agent, skill, caller and rule, who has to agree
	// and until when, and the address of the page where they do. The message is not in it. Required.
	URL secret.Value `yaml:"url" jsonschema:"required"`
	// Format is json (default) or slack: the text of a message, as Slack's incoming webhooks, and those of
	// Mattermost, take it.
	Format string `yaml:"format" jsonschema:"enum=json,enum=slack"`
}

const (
	usualWait      = quantity.Duration(3 * time.Second)
	longestWait    = quantity.Duration(10 * time.Minute)
	usualPerCaller = 20
	usualTotal     = 1000
	mostTotal      = 100_000
	usualMessage   = 256 << 10
	mostMessage    = 4 << 20
	usualKeep      = quantity.Duration(24 * time.Hour)
	longestKeep    = quantity.Duration(90 * 24 * time.Hour)
)

// OrDefault fills in what is left out.
func (c Calls) OrDefault() Calls {
	c.Wait, c.PerCaller, c.Total = cmp.Or(c.Wait, usualWait), cmp.Or(c.PerCaller, usualPerCaller), cmp.Or(c.Total, usualTotal)
	c.Message, c.Keep = cmp.Or(c.Message, usualMessage), cmp.Or(c.Keep, usualKeep)
	return c
}

// Validate reports what cannot work, naming the key.
func (c Calls) Validate() error {
	var errs []error
	wrong := func(ok bool, key string, value, bounds any) {
		if !ok {
			errs = append(errs, keypath.At(fmt.Errorf("%v is not between %s", value, bounds), key))
		}
	}
	wrong(c.Wait >= 0 && c.Wait <= longestWait, "wait", c.Wait, "1ms and 10m")
	wrong(c.PerCaller >= 0 && c.PerCaller <= mostTotal, "perCaller", c.PerCaller, "1 and 100000")
	wrong(c.Total >= 0 && c.Total <= mostTotal, "total", c.Total, "1 and 100000")
	wrong(c.Message >= 0 && c.Message <= mostMessage, "message", c.Message, "1B and 4MiB")
	wrong(c.Keep == 0 || c.Keep >= quantity.Duration(time.Minute) && c.Keep <= longestKeep, "keep", c.Keep, "1m and 90d")
	for i := range c.Notify {
		if err := c.Notify[i].validate(); err != nil {
			errs = append(errs, keypath.At(err, "notify", i))
		}
	}
	return errors.Join(errs...)
}

// validate never quotes the URL: those of Slack are secrets.
func (n *Notify) validate() error {
	u, err := url.Parse(n.URL.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return keypath.At(errors.New("must be a URL of http or https with a host"), "url")
	}
	switch n.Format {
	case "", FormatJSON, FormatSlack:
		return nil
	}
	return keypath.At(fmt.Errorf("%q is neither json nor slack", n.Format), "format")
}

// Words of Notify.Format.
const (
	FormatJSON  = "json"
	FormatSlack = "slack"
)
