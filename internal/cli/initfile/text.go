package initfile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// text is the file that init writes. What is not this package's own is written by quote, so that nothing
// in a card becomes a key.
//
// A configuration that is as short as it can be is what its reader goes on from: keys with their default
// value are left out, and comments say what is to be decided. It is written line by line and not by
// text/template, which calls methods by names that it has at run time only: the linker then has to keep
// every exported method of every type that is in the program.
func (b *beginning) text() string {
	var t text
	t.line("# yaml-language-server: $schema=%s", b.SchemaFile())
	who, credential := "an API key", "key" //nolint:gosec // words of a comment
	if b.Issuer != "" {
		who, credential = "a token of the issuer below", "token"
	}
	skills := ""
	if len(b.Skills) > 0 {
		skills = ", all of its skills: " + strings.Join(b.Skills, ", ")
	}
	t.line("# Whoever has %s may use %s %s%s.", who, b.Name, b.Version, skills)
	t.line("# Every key there is: config.example.yaml. A change of this file is taken up at once.")
	b.listeners(&t)
	b.callers(&t)
	t.line("policy:")
	t.line("  rules:")
	t.line("    - {name: everyone-with-a-%s, effect: allow, agents: [%s]}", credential, quote(b.ID))
	if b.Proxied() {
		t.line("egress: {proxy: %s}", quote(b.Proxy))
	}
	b.agent(&t)
	return t.String()
}

// listeners writes where the gateway listens, and what clients call it.
func (b *beginning) listeners(t *text) {
	more := ""
	if b.Behind() {
		t.line("# Something in front of it ends TLS; or name certificates here (tls) and leave plaintext out.")
		more = ", plaintext: true"
	}
	if b.DataDir != "" {
		more += ", dataDir: " + quote(b.DataDir)
	}
	t.line("server: {address: %s, statusAddress: %s, publicURL: %s%s}", quote(b.Address), quote(b.StatusAddress), quote(b.PublicURL), more)
	t.line("admin: {address: %s} # the console", quote(b.ConsoleAddress))
}

// callers writes who may call: whoever has an API key, or a token of the issuer. Of a provider that is
// known a comment says at each key what has to be set there.
func (b *beginning) callers(t *text) {
	t.line("authn:")
	if b.Issuer == "" {
		t.line("  apiKeys: {file: keys.yaml, bearer: true} # in X-API-Key, or as Authorization: Bearer")
		return
	}
	t.line("  oidc:")
	t.line("    # Exactly as the tokens have them: iss, to the slash at its end, and one of aud.")
	p := b.Provider
	if p == nil {
		t.line("    - {issuer: %s, audiences: [%s]}", quote(b.Issuer), quote(b.Audience))
		return
	}
	t.line("    # %s", p.ForIssuer)
	t.line("    - issuer: %s", quote(b.Issuer))
	t.line("      # %s", p.ForAudience)
	t.line("      audiences: [%s]", quote(b.Audience))
	t.line("      claims:")
	t.line("        # %s", p.ForGroups)
	t.line("        groups: %s", quote(p.Groups))
	t.line("        # %s", p.ForScopes)
	t.line("        scopes: %s", quote(p.Scopes))
	if p.Client != "" {
		t.line("        client: %s", quote(p.Client))
	}
}

// agent writes where the agent is, and what only the operator can say of it.
func (b *beginning) agent(t *text) {
	t.line("agents:")
	t.line("  - id: %s", quote(b.ID))
	t.line("    card: %s", quote(b.CardURL))
	if b.CA != "" {
		t.line("    tls: {ca: %s}", quote(b.CA))
	}
	if len(b.Origins) > 0 {
		var list []string
		for _, o := range b.Origins {
			list = append(list, quote(o))
		}
		t.line("    # The card sends callers to another address than its own, which only you can vouch for: is the agent there?")
		t.line("    # Where it is not, write how it is called in place of this (agents[].interfaces):")
		t.line(`    # interfaces: [{url: "http://HOST:PORT/", binding: JSONRPC, version: "1.0"}]`)
		t.line("    endpoints: [%s]", strings.Join(list, ", "))
	}
	if len(b.Interfaces) > 0 {
		t.line("    # The card sends callers to an address where no agent answered: this one did.")
		t.line("    interfaces:")
	}
	for _, i := range b.Interfaces {
		tenant := ""
		if i.Tenant != "" {
			tenant = ", tenant: " + quote(i.Tenant)
		}
		t.line("      - {url: %s, binding: %s, version: %s%s}", quote(i.URL), i.Binding, quote(fmt.Sprint(i.Version)), tenant)
	}
	if b.Secured {
		t.line("    # The agent asks for credentials; the gateway shows its own, not those of callers:")
		t.line(`    # credentials: [{header: Authorization, value: "Bearer ${AGENT_TOKEN}"}]`)
	}
}

// text is a file, written line by line.
type text struct{ strings.Builder }

// line adds a line.
func (t *text) line(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) }

// quote is a value as a JSON string, which is YAML too. A reference to a variable of the environment is
// none where it is escaped: ${ becomes $${, so that a name in a card cannot have a secret put into the
// configuration.
func quote(value string) string {
	s, _ := json.Marshal(strings.ReplaceAll(value, "${", "$${")) // a string always has a JSON form
	return string(s)
}
