package config

import (
	"slices"
	"strings"
	"testing"
)

// TestDoubts: each thing that can be meant and hardly is, beside what it is easily taken
// for.
func TestDoubts(t *testing.T) {
	t.Parallel()
	const (
		plain  = "oidc: [{issuer: https://a.example, audiences: [gw]}]"
		strict = "oidc: [{issuer: https://a.example, audiences: [gw], senderConstrained: true}]"
		apart  = "oidc: [{issuer: https://a.example, audiences: [gw], senderConstrained: true, header: X-User}]"
		keys   = plain + ", apiKeys: {file: keys.yaml}"

		exchange = "{exchange: {tokenURL: https://as.example/token, clientID: gw, clientSecret: s, "
	)
	bound := "agents[0].credentials[0].passthrough: tokens of https://a.example are bound to their senders"
	for name, tt := range map[string]struct{ authn, first, second, want string }{
		"bound tokens passed on":         {strict, "{passthrough: true}", "", bound},
		"in their own header":            {apart, "{passthrough: true, header: x-user}", "", bound},
		"in another header":              {apart, "{passthrough: true}", "", ""},
		"tokens that need not be bound":  {plain, "{passthrough: true}", "", ""},
		"bound tokens that stay":         {strict, "{value: secret}", "", ""},
		"one audience for two":           {plain, "{assertion: {audience: b}}", "{assertion: {audience: b}}", `agents[1].credentials[0].assertion.audience: is "b", as it is for agent first`},
		"an audience each":               {plain, "{assertion: {audience: a}}", "{assertion: {audience: b}}", ""},
		"none said":                      {plain, "{assertion: {}}", "{assertion: {}}", ""},
		"one token server":               {plain, exchange + "audience: ['urn:b']}}", exchange + "resource: ['urn:c', 'urn:b']}}", `agents[1].credentials[0].exchange.resource: is "urn:b", as it is for agent first`},
		"two token servers":              {plain, exchange + "audience: [b]}}", "{exchange: {tokenURL: https://other.example/token, clientID: gw, clientSecret: s, audience: [b]}}", ""},
		"own tokens for one audience":    {plain, "{oauth2: {tokenURL: https://as.example/token, clientID: gw, clientSecret: s, audience: b}}", "{oauth2: {tokenURL: https://as.example/token, clientID: gw, clientSecret: s, audience: b}}", `agents[1].credentials[0].oauth2.audience: is "b"`},
		"callers' tokens passed to both": {plain, "{passthrough: true, audience: b}", "{passthrough: true, audience: b}", `agents[1].credentials[0].audience: is "b"`},
		"the origin of another":          {plain, "{assertion: {}}", `{assertion: {audience: "https://first.example"}}`, `agents[1].credentials[0].assertion.audience: is "https://first.example", as it is for agent first`},
		"one audience twice":             {plain, "{assertion: {audience: b}}, {header: X-More, assertion: {audience: b}}", "", ""},
		"users with keys only":           {keys + ", combinations: [{user: apiKeys, client: oidc}]", exchange + "audience: [b]}}", "", "agents[0].credentials[0].exchange.subject: none of the callers"},
		"users with keys, clients ask":   {keys + ", combinations: [{user: apiKeys, client: oidc}]", exchange + "subject: client}}", "", ""},
		"users with tokens":              {keys + ", combinations: [{user: apiKeys}, {user: https://a.example}]", exchange + "subject: token}}", "", ""},
		"an assertion about anybody":     {keys + ", combinations: [{user: apiKeys}]", exchange + "subject: assertion}}", "", ""},
		"no combination":                 {keys, exchange + "audience: [b]}}", "", ""},
		"clients without combination":    {keys, exchange + "subject: client}}", "", "agents[0].credentials[0].exchange.subject: no client comes with a token"},
		"clients with keys":              {keys + ", combinations: [{user: oidc, client: apiKeys}]", exchange + "subject: client}}", "", "agents[0].credentials[0].exchange.subject: no client comes with a token"},
		"clients with tokens of another": {keys + ", combinations: [{user: apiKeys, client: https://a.example}]", exchange + "subject: client}}", "", ""},
	} {
		c, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {`+tt.authn+`}
agents:
  - {id: first, card: {url: "https://first.example/card.json"}, credentials: [`+tt.first+`]}
  - {id: second, card: {url: "https://second.example/card.json"}, credentials: [`+tt.second+`]}
policy: {rules: [{name: all, effect: allow}]}
`), environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := c.Doubts()
		if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
			t.Errorf("%s: %q", name, got)
		}
		all, err := c.Check()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range got {
			if !slices.Contains(all, w) {
				t.Errorf("%s: Check does not say %q", name, w)
			}
		}
	}
}

// TestDoubtsAboutCertificates: what is asked for, and is hardly what was meant.
func TestDoubtsAboutCertificates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ domains, certificates, driver, want string }{
		"all in order":      {"gw.example", "", "sqlite", ""},
		"forgotten":         {"gw.example", "", "memory", "server.tls.acme: state.driver is memory"},
		"for another host":  {"other.example", "", "sqlite", "server.tls.acme.domains: gw.example of server.publicURL"},
		"for one beside it": {"other.example", "certificates: [{cert: c, key: k}], ", "sqlite", ""},
		"in any spelling":   {"gw.example", "", "redis, redis: {addresses: [\"127.0.0.1:6379\"]}}\nkeys: {dir: shared", ""},
	} {
		c, err := Parse("config.yaml", []byte(`server:
  publicURL: "https://GW.example:8443"
  tls: {`+tt.certificates+`acme: {agreeTerms: true, domains: [`+tt.domains+`]}}
state: {driver: `+tt.driver+`}
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: first, card: "https://first.example/card.json"}]
`), environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := c.Doubts()
		if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSharedOrigins: what agents of one origin are given by default is for each of them alone,
// where anything tells them apart.
func TestSharedOrigins(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ first, second, want string }{
		"two origins":              {"card: 'https://first.example/card.json'", "card: 'https://second.example/card.json'", ""},
		"two paths of one":         {"card: 'https://one.example/first/card.json'", "card: 'https://ONE.example:443/second/card.json'", ""},
		"one card":                 {"card: 'https://one.example/card.json'", "card: 'https://one.example/card.json?x=2'", `agents[1].credentials[0].assertion.audience: is by default "https://one.example/card.json", as it is for agent first`},
		"the interface of another": {"card: 'https://first.example/card.json'", "card: 'https://second.example/card.json', interfaces: [{url: 'https://first.example/rpc', binding: JSONRPC, version: '1.0'}]", ""},
	} {
		c, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {anonymous: true}
agents:
  - {id: first, `+tt.first+`, credentials: [{assertion: {}}]}
  - {id: second, `+tt.second+`, credentials: [{assertion: {}}]}
`), environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := c.Doubts()
		if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestShortRetention: a state that forgets tasks before their streams are forgotten is told.
func TestShortRetention(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"state: {retention: 1h}":                                    nil,
		"state: {retention: 1m}":                                    {"state.retention: 1m is shorter than streams.retain, 5m"},
		"state: {retention: 5m}":                                    nil,
		"state: {retention: 1m}\nstreams: {retain: 1s, linger: 2m}": {"state.retention: 1m is shorter than streams.linger, 2m"},
		"streams: {retain: 31d}":                                    {"state.retention: 30d is shorter than streams.retain, 31d"},
	} {
		c, err := Parse("config.yaml", []byte("server: {publicURL: 'http://gw.example'}\nauthn: {anonymous: true}\n"+text), environment)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := c.Doubts()
		if len(got) != len(want) || len(want) > 0 && !strings.HasPrefix(got[0], want[0]) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestUndecided: rules whose approvers cannot come.
func TestUndecided(t *testing.T) {
	t.Parallel()
	const (
		sum  = "sha256:e8468ef05f45f2bb63d10a2f235d0185dc27039d66e3ea5e6255e1dc79671729"
		lead = `tokens: [{name: lead, role: viewer, digest: "` + sum + `"}]`
		oidc = "oidc: {issuer: https://idp.example, audiences: [gw], claim: groups, roles: {viewer: [staff]}}"
	)
	for name, tt := range map[string]struct{ admin, approvers, want string }{
		"a token":              {lead, "{subjects: [lead]}", ""},
		"the admin token":      {"", "{subjects: [admin-token]}", ""},
		"anybody":              {lead, "{subjects: ['*'], count: 2}", ""},
		"too few":              {lead, "{subjects: [lead, cfo], count: 2}", "2 people have to agree, and without admin.oidc the subjects match 1 names of admin.tokens"},
		"a token that is over": {strings.ReplaceAll(lead, "role:", "expires: 2020-01-01T00:00:00Z, role:"), "{subjects: [lead]}", "1 people have to agree, and without admin.oidc the subjects match 0 names"},
		"groups of tokens":     {lead, "{groups: [leads]}", "nobody has a group without admin.oidc"},
		"groups of people":     {oidc, "{groups: [leads]}", ""},
		"off":                  {`address: "off"`, "{subjects: [lead]}", "nobody can decide about calls that wait"},
	} {
		c, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {oidc: [{issuer: https://a.example, audiences: [gw]}]}
admin: {`+tt.admin+`}
agents: [{id: first, card: {url: "https://first.example/card.json"}}]
policy: {rules: [{name: all, effect: allow}, {name: ask, effect: approve, approvers: `+tt.approvers+`}]}
`), environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := c.Doubts()
		if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], "policy.rules[1].approvers: "+tt.want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestUndecidedAgents: agents among approvers that are not there, or cannot decide.
func TestUndecidedAgents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule string
		want []string
	}{
		"an agent":                   {"approvers: {agents: [risk]}", nil},
		"an agent beside nobody":     {"approvers: {agents: [risk], groups: [leads]}", nil},
		"an agent and nobody":        {"approvers: {agents: [risk], groups: [leads], count: 2}", []string{"policy.rules[1].approvers: nobody has a group without admin.oidc"}},
		"one that is not there":      {"approvers: {agents: [desk, risk]}", []string{`policy.rules[1].approvers.agents[0]: there is no agent "desk": it is not asked, and abstains`}},
		"an adviser that is none":    {"approvers: {agents: [risk]}, advisers: [desk]", []string{`policy.rules[1].advisers[0]: there is no agent "desk"`}},
		"the only target":            {"agents: [risk], approvers: {agents: [risk]}", []string{`policy.rules[1].approvers.agents[0]: the rule is about calls to "risk" alone`, "policy.rules[1].approvers: 1 have to agree, and 0 of the agents can"}},
		"one of several targets":     {"agents: [risk, first], approvers: {agents: [risk]}", []string{`policy.rules[1].approvers.agents[0]: calls to "risk" cannot be approved`}},
		"a target beside another":    {"agents: ['*'], approvers: {agents: [risk, first]}", nil},
		"a credential of a caller's": {"approvers: {agents: [passes]}", []string{"policy.rules[1].approvers.agents[0]: agents[2].credentials[0] is made of a caller's token"}},
	} {
		c, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {oidc: [{issuer: https://a.example, audiences: [gw]}]}
agents:
  - {id: first, card: {url: "https://first.example/card.json"}}
  - {id: risk, card: {url: "https://risk.example/card.json"}}
  - {id: passes, card: {url: "https://passes.example/card.json"}, credentials: [{passthrough: true}]}
policy: {rules: [{name: all, effect: allow}, {name: ask, effect: approve, `+tt.rule+`}]}
`), environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := slices.DeleteFunc(c.Doubts(), func(w string) bool { return !strings.HasPrefix(w, "policy.rules[") })
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}
