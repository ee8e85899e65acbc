package console

import "slices"

// Role is what somebody may do here. Each may what those before it may.
type Role string

// The roles, the least first.
const (
	Viewer   Role = "viewer"   // sees
	Operator Role = "operator" // decides on cards and deliveries, ends streams, reloads, sees profiles and whose content there is
	Admin    Role = "admin"    // registers agents, erases content
)

// nobody is the role of whoever has not said who it is.
const nobody Role = ""

func roles() []Role { return []Role{Viewer, Operator, Admin} }

// known reports whether there is such a role.
func (r Role) known() bool { return slices.Contains(roles(), r) }

// may reports whether the role is enough where needed is needed.
func (r Role) may(needed Role) bool {
	return slices.Index(roles(), r) >= slices.Index(roles(), needed)
}
