package authn

import "sync/atomic"

// Lease counts the chains that share a long-lived part (a key set, a key file).
// A reload builds the next chain while the old one still serves, and hands parts
// over whose configuration did not change; the last chain to close ends them.
type Lease struct {
	holders atomic.Int64
	end     func()
}

// Start takes the first share; end runs once, when the last share is given back.
func (l *Lease) Start(end func()) {
	l.end = end
	l.holders.Store(1)
}

// Share takes one more, unless the part has ended already.
func (l *Lease) Share() bool {
	for {
		n := l.holders.Load()
		if n == 0 {
			return false
		}
		if l.holders.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives one share back.
func (l *Lease) Release() {
	if l.holders.Add(-1) == 0 {
		l.end()
	}
}
