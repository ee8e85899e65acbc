package policy

// covers reports whether r holds for every call that other holds for, as far as the
// conditions, read on their own, tell. Both have the same effect, or r denies.
func (r *rule) covers(other *rule) bool {
	for _, d := range r.checks.all {
		if !d.covers(r, other) {
			return false
		}
	}
	return true
}

// stops reports whether r, a deny rule, denies every call that other holds for.
func (r *rule) stops(other *rule, ops operations) bool {
	for _, d := range r.checks.all {
		if !d.covers(r, other) || d.stops != nil && !d.stops(ops, r, other) {
			return false
		}
	}
	return true
}

// looser reports whether an upper bound is no lower than another; 0 is none.
func looser(a, b int64) bool { return a == 0 || b != 0 && b <= a }
