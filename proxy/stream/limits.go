package stream

import "time"

// Limits bound one stream. All must be set that are used: Event and Idle by what reads an
// agent's stream, the others by what writes a client's.
type Limits struct {
	Event     int           // bytes of one event
	Idle      time.Duration // between two events or comments of the agent
	Heartbeat time.Duration // silence after which the client gets a comment
	Write     time.Duration // for the client to take one event
}
