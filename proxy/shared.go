package proxy

// tenantName is the tenant by which an agent, or one skill of it, is addressed
// where no path can.
func tenantName(agent, skill string) string {
	if skill == "" {
		return agent
	}
	return agent + "/skills/" + skill
}
