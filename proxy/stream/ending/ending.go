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
