package push

import "time"

// Outcome is what became of an attempt, one of a closed set.
type Outcome string

// The outcomes.
const (
	Delivered      Outcome = "delivered" // the target has taken it
	outcomeFailed  Outcome = "failed"    // it will be tried again
	outcomeDead    Outcome = "dead"      // it was tried long enough, or is of no use to anybody
	outcomeGone    Outcome = "gone"      // the target says that it is no more, or its config is not registered any more: dead
	outcomeRefused Outcome = "refused"   // the target or its owner is not allowed, and nothing was sent: dead
)

// Attempt is what metrics and the audit record hear of one attempt. It names the host of
// the target and none of its secrets.
type Attempt struct {
	ID       string // of the delivery
	Agent    string
	Task     string
	Config   string // Webhook.ID
	Name     string // of the config; "" while that is not known
	Owner    string // authn.Principal.Key
	Version  string
	Host     string
	Number   int // from 1 on; 0 where it came to no attempt
	Outcome  Outcome
	Status   int           // of the answer; 0 for none
	Why      string        // what it came to, of a closed set but for numbers
	Duration time.Duration // of the attempt; 0 where nothing was sent
	Waited   time.Duration // since it was enqueued

	Traceparent string // that went with it; "" for none
}
