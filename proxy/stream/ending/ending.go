// Package ending has the errors that say why an event stream ended before its agent ended it.
// Their texts stand in the audit record's end field and are therefore stable.
//
//	ErrIdle      the agent said nothing for server.timeouts.stream
//	ErrTooLarge  an event was larger than server.limits.event
//	ErrBroken    the agent's connection broke, or its bytes were no events
//	ErrEarly     the agent ended its stream, its task went on, and there was no other stream
//	ErrSlow      the client did not take an event in server.timeouts.write, or fell behind what is kept
//	ErrGone      the client has left
//	ErrDraining  the gateway shuts down
package ending

import "errors"

// What ends a stream before the agent does. The texts stand in the audit
// record's end field, so they are stable.
var (
	ErrIdle     = errors.New("agent idle")
	ErrTooLarge = errors.New("event too large")
	ErrBroken   = errors.New("agent connection broke")
	ErrEarly    = errors.New("agent stream ended before the task")
	ErrSlow     = errors.New("client too slow")
	ErrGone     = errors.New("client disconnected")
	ErrDraining = errors.New("gateway draining")
)
