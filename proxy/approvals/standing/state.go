// Package standing has the words for where a call stands that people have to agree to.
package standing

// State is where a call stands.
type State string

// The states.
const (
	Waiting  State = "waiting"  // for people
	Approved State = "approved" // enough have agreed; a gateway is about to send it
	Sending  State = "sending"  // it is on its way to the agent
	Sent     State = "sent"     // the agent has it, and has shown a task, or answered
	Failed   State = "failed"   // the agent, or the gateway, has refused it
	Lost     State = "lost"     // whether the agent has it is not known
	Rejected State = "rejected" // by an approver
	Canceled State = "canceled" // by its caller
	Expired  State = "expired"  // nobody has decided in time
	Void     State = "void"     // what it was approved under holds no more
)

// Ended reports whether nothing more becomes of a call here.
func (s State) Ended() bool { return s != Waiting && s != Approved && s != Sending }
