package initfile

import (
	"encoding/json"
	"strings"
	"text/template"
)

// beginningText is the file that init writes. It quotes whatever is not its own as a JSON string,
// which is YAML too, so that nothing in a card becomes a key. $${ stands for ${, so that a name in
// a card cannot become a reference to a variable of the gateway's environment.
//
// A configuration that is as short as it can be is what its reader goes on from: keys with their
// default value are left out, and comments say what is to be decided.
var beginningText = template.Must(template.New("config").Funcs(template.FuncMap{
	"quote": func(s string) (string, error) {
		text, err := json.Marshal(strings.ReplaceAll(s, "${", "$${")) // which is YAML
		return string(text), err
	},
	"list": func(of []string) string { return strings.Join(of, ", ") },
}).Parse(`# yaml-language-server: $schema={{.SchemaFile}}
# Whoever has {{if .Issuer}}a token of the issuer below{{else}}an API key{{end}} may use {{.Name}} {{.Version}}{{with .Skills}}, all of its skills: {{list .}}{{end}}.
# Every key there is: config.example.yaml. A change of this file is taken up at once.
{{- if .Behind}}
# Something in front of it ends TLS; or name certificates here (tls) and leave plaintext out.
{{- end}}
server: {address: {{quote .Address}}, statusAddress: {{quote .StatusAddress}}, publicURL: {{quote .PublicURL}}{{if .Behind}}, plaintext: true{{end}}{{with .DataDir}}, dataDir: {{quote .}}{{end}}}
admin: {address: {{quote .ConsoleAddress}}} # the console
authn:
{{- if .Issuer}}
  oidc:
    # Exactly as the tokens have them: iss, to the slash at its end, and one of aud.
{{- with .Provider}}
    # {{.ForIssuer}}
    - issuer: {{quote $.Issuer}}
      # {{.ForAudience}}
      audiences: [{{quote $.Audience}}]
      claims:
        # {{.ForGroups}}
        groups: {{quote .Groups}}
        # {{.ForScopes}}
        scopes: {{quote .Scopes}}
{{- with .Client}}
        client: {{quote .}}
{{- end}}
{{- else}}
    - {issuer: {{quote .Issuer}}, audiences: [{{quote .Audience}}]}
{{- end}}
{{- else}}
  apiKeys: {file: keys.yaml, bearer: true} # in X-API-Key, or as Authorization: Bearer
{{- end}}
policy:
  rules:
    - {name: everyone-with-a-{{if .Issuer}}token{{else}}key{{end}}, effect: allow, agents: [{{quote .ID}}]}
{{- if .Proxied}}
egress: {proxy: {{quote .Proxy}}}
{{- end}}
agents:
  - id: {{quote .ID}}
    card: {{quote .CardURL}}
{{- with .CA}}
    tls: {ca: {{quote .}}}
{{- end}}
{{- with .Origins}}
    # The card sends callers to another address than its own, which only you can vouch for: is the agent there?
    # Where it is not, write how it is called in place of this (agents[].interfaces):
    # interfaces: [{url: "http://HOST:PORT/", binding: JSONRPC, version: "1.0"}]
    endpoints: [{{range $i, $o := .}}{{if $i}}, {{end}}{{quote $o}}{{end}}]
{{- end}}
{{- with .Interfaces}}
    # The card sends callers to an address where no agent answered: this one did.
    interfaces:
{{- range .}}
      - {url: {{quote .URL}}, binding: {{.Binding}}, version: {{quote (print .Version)}}{{with .Tenant}}, tenant: {{quote .}}{{end}}}
{{- end}}
{{- end}}
{{- if .Secured}}
    # The agent asks for credentials; the gateway shows its own, not those of callers:
    # credentials: [{header: Authorization, value: "Bearer ${AGENT_TOKEN}"}]
{{- end}}
`))
