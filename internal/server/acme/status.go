package acme

import "time"

// Status is how a name is doing.
type Status struct {
	Domain string
	// NotAfter is when the certificate ends, zero without one.
	NotAfter time.Time
	// Err is why the last attempt failed to get or renew it.
	Err error
}
