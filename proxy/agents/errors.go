package agents

import "errors"

// What keeps a call from an agent before anything is sent.
var (
	ErrUnknown     = errors.New("no such agent, or none this caller may know of")
	ErrNotReady    = errors.New("the agent's card has not been fetched yet")
	ErrNoInterface = errors.New("the agent's card has no interface that can be called")
)
