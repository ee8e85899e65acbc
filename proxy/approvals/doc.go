// Package approvals keeps the calls that wait until people agree to them, and what has become of each.
//
// Everything is in the state that replicas share, sealed. Of a call there are:
//
//   - the call (Call): who has sent what, under which rules it waits, and until when. It is written once.
//   - a vote (Vote) of each person who agrees. A vote is written once, and insert-only.
//   - a turn (Turn) of each gateway that asks an agent about it, and the answer (Answer) of each agent. Both
//     are inserted once: one gateway asks, and an agent answers once.
//   - its outcome (Outcome), which is inserted once: whoever inserts it, an approver who rejects, the
//     caller who cancels, or the gateway that is about to send the call, has decided, and all others are
//     late. So a call is sent by one gateway, once, however many agree at the same moment. What becomes of
//     a call that was sent replaces the outcome.
//
// A gateway that ends while it sends a call leaves the outcome Sending behind. Whether the agent has the
// call is then known to nobody, and it counts as Lost when its time is over: to pay twice is worse than to
// be asked to look.
//
// The package knows no rule and no HTTP; proxy/approve has calls wait and sends them, and
// internal/operator has people decide.
package approvals
