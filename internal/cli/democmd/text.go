package democmd

import "strings"

// demoConfig is an ordinary configuration file: `demo` serves it exactly as `serve` would. fill puts
// addresses into it.
const demoConfig = `server:
  id: demo
  address: "{{.Address}}"
  statusAddress: "{{.StatusAddress}}"
  publicURL: "{{.PublicURL}}"
  dataDir: "{{.Dir}}"
  mcp: {path: /mcp}
authn:
  oidc:
    - issuer: "{{.Issuer.URL}}"
      audiences: [a2a-gateway]
  apiKeys: {file: "{{.Keys}}", api: true}
policy:
  rules:
    - {name: finance-does-billing, effect: allow, agents: [billing, treasury], groups: [finance]}
    - {name: support-summarizes, effect: allow, agents: [billing], skills: [summarize], groups: [support]}
    - {name: everyone-has-weather, effect: allow, agents: [weather]}
    - name: payouts
      effect: approve
      agents: [billing]
      expr: 'message.parts.exists(p, p.text.contains("payout"))'
      approvers: {subjects: [admin-token]}
  guards:
    - {name: no-keys-in, on: [request], use: secrets}
admin: {address: "{{.AdminAddress}}"}
# What both sample agents declare in their cards.
extensions:
  - uri: "{{.Extension}}"
    description: Books the call on a cost centre.
    schemas: {metadata: {"{{.Extension}}": {type: string, maxLength: 64}}}
telemetry:
  logs: {level: warn}
agents:
  - {id: billing, card: "{{.Billing.CardURL}}"}
  - {id: weather, card: "{{.Weather.CardURL}}"}
  # The billing agent once more, with an extension that the agent itself only
  # offers and this gateway demands.
  - {id: treasury, card: "{{.Billing.CardURL}}", extensions: {require: ["{{.Extension}}"]}}
`

// demoText is what `demo` prints. It holds no value a shell could misread: addresses and a key of
// letters, digits, "_" and "-".
const demoText = `The gateway is at {{.Gateway}} in front of two sample agents, one of them under two names:
  billing   A2A 1.0   {{.Billing.CardURL}}
  weather   A2A 0.3   {{.Weather.CardURL}}
  treasury  the billing agent once more, with an extension that the gateway requires
Its audit record is in {{.Dir}}/audit, its metrics at {{.Status}}/metrics.
The console is at {{.Console}}/ui/, for this token: {{.Token}}
The token is in {{.Dir}}/admin.token too.
It shows calls as they come: alice, bob, carol and a pipeline make some all the time (--traffic=false: nobody does).
Paste these into another terminal. Interrupt (^C) to stop.

{{.NoProxy}}# Tokens from the development issuer: alice is in finance, bob in support.
token() { curl -s -u "$1:$1-secret" -d grant_type=client_credentials {{.Issuer.URL}}/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/'; }
ALICE=$(token alice); BOB=$(token bob)

# 1. An allowed call: alice may use every billing skill.
curl -s {{.Gateway}}/agents/billing/ -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"summarize"}]}}}'

# 2. A denied skill: bob may summarize, but not refund. 403.
curl -s -i {{.Gateway}}/agents/billing/skills/refund/ -H "Authorization: Bearer $BOB" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"jsonrpc":"2.0","id":2,"method":"SendMessage","params":{"message":{"messageId":"m2","role":"ROLE_USER","parts":[{"text":"refund INV-7"}]}}}'

# 3. A stream, event by event.
curl -s -N {{.Gateway}}/agents/billing/message:stream -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"message":{"messageId":"m3","role":"ROLE_USER","parts":[{"text":"count 5"}]}}'

# 4. A required extension: refused without it (-32008), accepted with it.
curl -s {{.Gateway}}/agents/treasury/ -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"jsonrpc":"2.0","id":4,"method":"SendMessage","params":{"message":{"messageId":"m4","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'
curl -s -i {{.Gateway}}/agents/treasury/ -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -H 'A2A-Extensions: {{.Extension}}' \
  -d '{"jsonrpc":"2.0","id":5,"method":"SendMessage","params":{"message":{"messageId":"m5","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'

# 5. Cards: the public one, and the one bob gets, with the one skill he may use.
curl -s {{.Gateway}}/agents/billing/.well-known/agent-card.json
curl -s {{.Gateway}}/agents/billing/.well-known/agent-card.json -H "Authorization: Bearer $BOB"

# 6. An old client: the 1.0 agent, called and answering in A2A 0.3.
curl -s {{.Gateway}}/agents/billing/ -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' \
  -d '{"jsonrpc":"2.0","id":6,"method":"message/send","params":{"message":{"kind":"message","messageId":"m6","role":"user","parts":[{"kind":"text","text":"hello"}]}}}'

# 7. An API key, and the 0.3 agent in its own protocol version.
curl -s {{.Gateway}}/agents/weather/ -H 'X-API-Key: {{.Key}}' -H 'Content-Type: application/json' \
  -d '{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"kind":"message","messageId":"m7","role":"user","parts":[{"kind":"text","text":"forecast Oslo"}]}}}'

# 8. A guard: a message with a credential in it is refused. 403.
curl -s {{.Gateway}}/agents/billing/message:send -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"message":{"messageId":"m8","role":"ROLE_USER","parts":[{"text":"use AKIAIOSFODNN7EXAMPLE"}]}}'

# 9. An approval: a payout waits as a task until somebody agrees, here or in the console under Approvals.
TASK=$(curl -s {{.Gateway}}/agents/billing/message:send -H "Authorization: Bearer $ALICE" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
  -d '{"message":{"messageId":"m9","role":"ROLE_USER","parts":[{"text":"echo payout 2000"}]}}' | sed 's/.*"id":"\(approval-[^"]*\)".*/\1/')
DIGEST=$(curl -s {{.Console}}/api/v1/approvals/$TASK -H 'Authorization: Bearer {{.Token}}' | sed 's/.*"digest":"\([^"]*\)".*/\1/')
curl -s -o /dev/null {{.Console}}/api/v1/approvals/$TASK/approve -H 'Authorization: Bearer {{.Token}}' -H 'Content-Type: application/json' -d "{\"digest\":\"$DIGEST\"}"
sleep 1; curl -s {{.Gateway}}/agents/billing/tasks/$TASK -H "Authorization: Bearer $ALICE" -H 'A2A-Version: 1.0'

# 10. MCP: bob's skills as the tools of a host.
curl -s {{.Gateway}}/mcp -H "Authorization: Bearer $BOB" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
  -d '{"jsonrpc":"2.0","id":10,"method":"tools/list"}'
`

// noProxy is the part of demoText that is there where the environment has a proxy for curl.
const noProxy = `# This environment has a proxy, which curl would ask for these addresses too.
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1"

`

// fill puts what c knows by now into a text, in place of {{.Name}}. It is not done by text/template,
// which calls methods by names that it has at run time only: the linker then has to keep every exported
// method of every type that is in the program, and the program is half as large again.
func (c *cast) fill(text string) string {
	values := map[string]string{
		"Address": c.Address, "StatusAddress": c.StatusAddress, "AdminAddress": c.AdminAddress, "PublicURL": c.PublicURL,
		"Dir": c.Dir, "Keys": c.Keys, "Key": c.Key, "Extension": c.Extension,
		"Issuer.URL": c.Issuer.URL, "Billing.CardURL": c.Billing.CardURL, "Weather.CardURL": c.Weather.CardURL,
		"Gateway": c.Gateway, "Status": c.Status, "Console": c.Console, "Token": c.Token, "NoProxy": "",
	}
	if c.proxied() {
		values["NoProxy"] = noProxy
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{{."+name+"}}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
