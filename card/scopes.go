package card

import "slices"

// tokens are the card's security schemes by name, and whether each is OAuth2's or OpenID
// Connect's.
type tokens map[string]bool

// readTokens reads the security schemes of a card. The first of a name counts, as everywhere.
func readTokens(card object) tokens {
	t := tokens{}
	for _, m := range members(card.find("securitySchemes")) {
		if _, ok := t[m.name]; !ok && m.value.Kind() == '{' {
			t[m.name] = isOAuth(members(m.value))
		}
	}
	return t
}

// isOAuth tells kinds of security schemes apart, in the shape of any version.
func isOAuth(scheme object) bool {
	if inner := members(scheme.find("scheme")); inner != nil { // what JavaScript's SDK has in memory
		return wraps(inner.text("$case"))
	}
	switch scheme.text("type") {
	case "oauth2", "openIdConnect":
		return true
	case "":
		return slices.ContainsFunc(scheme, func(m member) bool { return m.value.Kind() != 'n' && wraps(m.name) })
	}
	return false
}

// wraps recognises 1.0's names of the schemes, and what Java's SDK, before 1.0, left in
// them without a wrapper.
func wraps(name string) bool {
	switch name {
	case "oauth2SecurityScheme", "oauth2_security_scheme", "flows",
		"openIdConnectSecurityScheme", "open_id_connect_security_scheme", "openIdConnectUrl", "open_id_connect_url":
		return true
	}
	return false
}

// scopes reads what a skill's own security requirements ask of tokens. A skill
// without any inherits the card's in A2A; those are for who talks to the agent, which
// is the gateway, and are not read.
//
// Of the two members that cards have for it 1.0's counts where it says something: some SDKs
// write an empty one beside 0.3's. Cards in the field write it in four ways:
//
//	[{"google":["a"]}]                       0.3, and a sample in 1.0's text
//	[{"schemes":{"google":{"list":["a"]}}}]  1.0
//	[{"schemes":{"google":["a"]}}]           Go's SDK
//	[{"google":{"list":["a"]}}]              Java's, before 1.0
//
// An entry is an alternative; all of its schemes have to hold. Only tokens have scopes:
// an alternative without a token is left out, for the gateway's callers have no
// credential for it, unless all are like that. An alternative that any token meets, as
// nothing at all does, means that no scope is needed.
func (t tokens) scopes(skill object) [][]string {
	list := elements(skill.find("securityRequirements"))
	if len(list) == 0 {
		list = elements(skill.find("security"))
	}
	var all [][]string
	for _, entry := range list {
		if entry.Kind() != '{' {
			continue
		}
		scopes, token := t.requirement(members(entry))
		switch {
		case !token:
		case len(scopes) == 0:
			return nil
		default:
			all = append(all, scopes)
		}
	}
	return all
}

// requirement reads one alternative: the scopes that go together in it, and whether it
// can be met with a token.
func (t tokens) requirement(entry object) (scopes []string, token bool) {
	entry = entry.present()
	if inner := members(entry.find("schemes")); inner != nil && len(entry) == 1 {
		entry = inner.present()
	}
	token = len(entry) == 0
	for _, m := range entry {
		list := m.value
		if list.Kind() == '{' {
			list = members(list).find("list")
		}
		asked := texts(list)
		oauth, known := t[m.name]
		// A scheme that the card does not define is taken for one if scopes are asked of
		// it: nothing else has any.
		if oauth || !known && len(asked) > 0 {
			token = true
			scopes = append(scopes, asked...)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), token
}
