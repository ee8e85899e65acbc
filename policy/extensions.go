package policy

import "github.com/a2a-gateway/a2a-gateway/authn"

// Extensions returns what rules say about extensions in messages sent to an agent,
// for its card: one list for each of the skills, or a single one for the agent when
// there are no skills. Lists that are the same appear once. Of a caller that is not
// known (nil) only the rules without a condition on callers count.
func (s *Set) Extensions(p *authn.Principal, agent string, skills []string) [][]Extensions {
	return [][]Extensions{nil}
}
