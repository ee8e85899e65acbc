package authn

import (
	"errors"
	"time"
)

// Failures is authn.failures: how many refused credentials one client address may
// present before it is answered 429. Good credentials from the same address are never
// held up.
type Failures struct {
	// PerMinute is the rate that is refilled. Default: 60. Negative: no limit.
	PerMinute int `yaml:"perMinute,omitempty"`
	// Burst is how many may come at once. Default: 30.
	Burst int `yaml:"burst,omitempty"`
}

// ErrThrottled says that a client address has presented too many credentials that were
// turned down; 429.
var ErrThrottled = errors.New("too many refused credentials (authn.failures)")

// Throttled is ErrThrottled with the time to wait.
type Throttled struct {
	After time.Duration
	Err   error // why the latest credential was refused, for the log
}

// Error is for the log.
func (t *Throttled) Error() string { return ErrThrottled.Error() + ": " + t.Err.Error() }

// Is makes errors.Is(err, ErrThrottled) true. The refusal behind it must not be found
// by errors.As: the caller is not to hear it.
func (t *Throttled) Is(target error) bool { return target == ErrThrottled }
