package signature

import "slices"

// upgraded is what the SDK for Python reads a card with 0.3's members as. Members that
// 1.0 has as well stay; the others are dropped when the form is made.
// The card that is passed is not changed: other forms are made of it too. What is wrong with a member
// is left as it is, and has the form fail when it is pruned.
func upgraded(card value) value {
	card.members = slices.Clone(card.members)
	upgradeExtended(&card)
	upgradeInterfaces(&card)
	upgradeSecurity(&card)
	for i := range card.members {
		m := &card.members[i]
		switch m.name {
		case "skills":
			m.value.list = slices.Clone(m.value.list)
			for n := range m.value.list {
				m.value.list[n].members = slices.Clone(m.value.list[n].members)
				upgradeSecurity(&m.value.list[n])
			}
		case "securitySchemes":
			m.value.members = slices.Clone(m.value.members)
			for n := range m.value.members {
				upgradeScheme(&m.value.members[n].value)
			}
		}
	}
	return card
}

// take removes a member, and returns it. The members have been copied by who calls.
func (v *value) take(name string) *value {
	for i, m := range v.members {
		if m.name == name {
			v.members = slices.Delete(v.members, i, i+1)
			return &m.value
		}
	}
	return nil
}

// upgradeExtended moves the flag of 0.3 to where 1.0 has it, unless that is there. A flag that says
// no is the default in both, and leaves nothing behind.
func upgradeExtended(card *value) {
	flag := card.take("supportsAuthenticatedExtendedCard")
	if flag == nil || flag.kind != 't' {
		return
	}
	for i := range card.members {
		capabilities := &card.members[i].value
		if card.members[i].name == "capabilities" && capabilities.find("extendedAgentCard") == nil {
			capabilities.members = append(slices.Clip(capabilities.members), member{"extendedAgentCard", *flag})
		}
	}
}

// upgradeInterfaces makes the list of 1.0 of the members that 0.3 has for the same. What is not said is
// what an SDK of 0.3 takes it for.
func upgradeInterfaces(card *value) {
	url, transport := card.take("url"), card.take("preferredTransport")
	version, more := card.take("protocolVersion"), card.take("additionalInterfaces")
	if card.find("supportedInterfaces") != nil || url == nil || url.empty() {
		return
	}
	if transport == nil {
		transport = &value{kind: '"', text: "JSONRPC"}
	}
	if version == nil {
		version = &value{kind: '"', text: "0.3.0"}
	}
	entry := func(url, transport *value) value {
		v := value{kind: '{', members: []member{{"protocolVersion", *version}}}
		if url != nil {
			v.members = append(v.members, member{"url", *url})
		}
		if transport != nil {
			v.members = append(v.members, member{"protocolBinding", *transport})
		}
		return v
	}
	list := value{kind: '[', list: []value{entry(url, transport)}}
	if more != nil {
		for _, e := range more.list {
			list.list = append(list.list, entry(e.find("url"), e.find("transport")))
		}
	}
	card.members = append(card.members, member{"supportedInterfaces", list})
}

// upgradeSecurity is for cards and skills.
// 0.3 has {"security":[{"oauth":["read"]}]}, and 1.0 for the same:
//
//	{"securityRequirements":[{"schemes":{"oauth":{"list":["read"]}}}]}
func upgradeSecurity(v *value) {
	security := v.take("security")
	if security == nil || security.kind != '[' || v.find("securityRequirements") != nil {
		return
	}
	out := value{kind: '[', list: []value{}}
	for _, alternative := range security.list {
		schemes := value{kind: '{', members: []member{}}
		for _, m := range alternative.members {
			list := value{kind: '{', members: []member{{"list", m.value}}}
			schemes.members = append(schemes.members, member{m.name, list})
		}
		out.list = append(out.list, value{kind: '{', members: []member{{"schemes", schemes}}})
	}
	v.take("security_requirements") // to Protobuf the same member, of which it takes the last
	v.members = append(v.members, member{"securityRequirements", out})
}

// upgradeScheme puts a scheme below the member that 1.0 has for its type.
// {"type":"apiKey","in":"header","name":"X-Key"} becomes
// {"apiKeySecurityScheme":{"location":"header",…}}.
func upgradeScheme(scheme *value) {
	scheme.members = slices.Clone(scheme.members)
	kind := scheme.take("type")
	if kind == nil {
		return
	}
	wrapper, ok := map[string]string{
		"apiKey": "apiKeySecurityScheme", "http": "httpAuthSecurityScheme", "oauth2": "oauth2SecurityScheme",
		"openIdConnect": "openIdConnectSecurityScheme", "mutualTLS": "mtlsSecurityScheme",
	}[kind.text]
	if !ok {
		return
	}
	if kind.text == "apiKey" {
		if in := scheme.take("in"); in != nil {
			scheme.members = append(scheme.members, member{"location", *in})
		}
	}
	*scheme = value{kind: '{', members: []member{{wrapper, *scheme}}}
}
