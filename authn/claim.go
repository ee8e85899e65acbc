package authn

// Claim finds a verified claim by its whole name, or as a path whose dots go down into
// objects, as the claim names of the configuration are read. Its value is what JSON
// makes of it: a string, float64, bool, []any, map[string]any or nil.
func (p *Principal) Claim(path string) (any, bool) { return lookup(p.Claims, path) }
