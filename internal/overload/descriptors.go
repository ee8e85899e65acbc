package overload

// reserve is how many descriptors are kept for what has begun: for connections to be
// accepted and answered, files, and what agents are asked beside calls.
func reserve(permitted int) int { return min(max(64, permitted/16), permitted/4) }

// fewest is how many calls there may be with no descriptor left: who is refused everything
// would not find out that an agent's idle connection can be used.
const fewest = 4

// weighDescriptors judges how many are open. Calls in flight may grow by what is free, as
// each may need one that is new; measuring again ten times a second tells how many did.
func (l *Ladder) weighDescriptors(s set, r *Reading) set {
	if !r.openKnown || r.Permitted == 0 {
		l.ceiling.Store(0)
		return s.with(Descriptors, false)
	}
	usable := r.Permitted - reserve(r.Permitted)
	l.ceiling.Store(max(fewest, l.calls.Load()+int64(max(0, usable-r.Open))))
	return s.with(Descriptors, above(s.has(Descriptors), int64(r.Open), int64(usable)))
}
