package authn

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// Failures is the counter that the chain charges, for the one that takes its place at a reload;
// nil where there is no limit, and of a nil chain.
func (c *Chain) Failures() *failures.Counter {
	if c == nil {
		return nil
	}
	return c.blame
}

// Blame counts a refused credential against the client address that presented it. It
// returns err, or a *failures.Throttled in its place when there have been too many. Other
// errors are nobody's fault or no credential's, and pass.
func (c *Chain) Blame(source string, err error) error {
	if err == nil || c.blame == nil {
		return err
	}
	var refused *Refused
	// What a question was charged for has been counted.
	if !errors.As(err, &refused) || refused.Uncounted || refused.Charged {
		return err
	}
	if wait := c.blame.Charge(failures.AddressBlock(source), c.now()); wait > 0 {
		return &failures.Throttled{After: wait, Err: err}
	}
	return err
}
