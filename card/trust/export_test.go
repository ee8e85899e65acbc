package trust

// What tests outside the package say in configurations.
const (
	Accept      = actAccept
	Alert       = actAlert
	Quarantine  = actQuarantine
	RefuseNames = refuseNames
	RefuseAll   = refuseAll
)

// Bounds of what is said of a change.
const (
	MaxChanges = maxChanges
	MaxExcerpt = maxExcerpt
)
