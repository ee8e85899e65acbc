package api

import "slices"

// Role is what somebody may do. Each may what those before it may.
type Role string

// The roles, the least first. The zero Role is that of whoever has not said who it is.
const (
	Viewer   Role = "viewer"   // sees
	Operator Role = "operator" // decides on cards and deliveries, ends streams, reloads, sees profiles and whose content there is
	Admin    Role = "admin"    // registers agents, erases content
)

// Roles are all of them, the least first.
func Roles() []Role { return []Role{Viewer, Operator, Admin} }

// Known reports whether there is such a role.
func (r Role) Known() bool { return slices.Contains(Roles(), r) }

// May reports whether the role is enough where needed is needed.
func (r Role) May(needed Role) bool {
	return slices.Index(Roles(), r) >= slices.Index(Roles(), needed)
}
