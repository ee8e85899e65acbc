package config

import (
	"github.com/invopop/jsonschema"
)

// limit says which values and keys the loader insists on, which Go's types do not tell.
func limit(name string, mapping *jsonschema.Schema) {
	mapping.Required = required[name]
	for key, property := range mapping.Properties.FromOldest() {
		if property.Items != nil {
			property = property.Items
		}
		for _, value := range choices[name+"."+key] {
			property.Enum = append(property.Enum, value)
		}
	}
}

// required are the keys without which a mapping is refused, wherever it is.
var required = map[string][]string{
	"server.Config":        {"publicURL"},
	"server.Certificate":   {"cert", "key"},
	"policy.Rule":          {"name"},
	"agents.Config":        {"id"},
	"authn.Issuer":         {"issuer"},
	"limits.Limit":         {"name"},
	"pdp.Authorizer":       {"name", "url"},
	"ext.Entry":            {"uri"},
	"console.Token":        {"name", "role"},
	"card.InterfaceConfig": {"url", "binding"},
}

// choices are the values of the keys, or of their lists, that take no others.
var choices = map[string][]string{
	"anomaly.Detector.action":          {"off", "report", "throttle"},
	"anomaly.Learned.action":           {"off", "report", "throttle"},
	"anomaly.Reported.action":          {"off", "report"},
	"audit.ContentRule.capture":        {"none", "request", "response", "both"},
	"authn.Issuer.algorithms":          {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
	"authn.MTLS.names":                 {"uri", "dns"},
	"card.Config.bindings":             {"JSONRPC", "HTTP+JSON", "GRPC"},
	"card.Config.form":                 {"auto", "mixed", "1.0", "0.3"},
	"card.Config.requirements":         {"auto", "omit", "spec", "go"},
	"card.Config.visibility":           {"public", "caller", "none"},
	"card.InterfaceConfig.binding":     {"JSONRPC", "HTTP+JSON", "GRPC"},
	"card.InterfaceConfig.version":     {"0.1", "0.2", "0.3", "1.0"},
	"catalog.Config.access":            {"caller", "public", "none"},
	"config.Audit.durability":          {"write", "sync"},
	"config.Audit.onFailure":           {"deny", "allow"},
	"config.Policy.default":            {"deny", "allow"},
	"console.TLS.clientAuth":           {"off", "request", "optional", "require"},
	"console.TLS.minVersion":           {"1.3", "1.2"},
	"console.Token.role":               {"viewer", "operator", "admin"},
	"ext.Config.activation":            {"echo", "declared"},
	"ext.Config.conformance":           {"off", "report", "enforce"},
	"ext.Config.dependencies":          {"refuse", "close"},
	"ext.Config.mode":                  {"enforce", "shadow"},
	"ext.Config.unrequested":           {"strip", "refuse", "report"},
	"ext.Entry.kind":                   {"data", "profile", "method", "state"},
	"ext.Entry.status":                 {"allowed", "deprecated", "blocked"},
	"ext.Entry.validation":             {"off", "report", "enforce"},
	"ext.MethodConfig.about":           {"message", "task", "tasks", "agent"},
	"ext.MethodConfig.verb":            {"GET", "POST"},
	"files.Actions.answer":             {"off", "report", "strip", "refuse"},
	"files.Actions.request":            {"off", "report", "strip", "refuse"},
	"files.Config.activeContent":       {"off", "report", "enforce"},
	"files.Config.names":               {"off", "report", "enforce"},
	"files.Config.privateAddresses":    {"deny", "allow"},
	"hook.Config.onFailure":            {"deny", "pass"},
	"hook.Config.phases":               {"request", "response", "event"},
	"kafka.Config.compression":         {"none", "gzip", "snappy", "lz4", "zstd"},
	"kafka.SASL.mechanism":             {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"},
	"keys.Config.algorithm":            {"ES256", "EdDSA"},
	"limits.Config.headers":            {"on", "off"},
	"limits.Config.onLoss":             {"local", "deny", "allow"},
	"limits.Limit.mode":                {"enforce", "shadow"},
	"limits.Quota.per":                 {"hour", "day", "week", "month"},
	"otlp.Config.compression":          {"gzip", "none"},
	"otlp.Config.protocol":             {"http/protobuf", "grpc"},
	"pdp.Authorizer.kind":              {"authzen", "ext_authz"},
	"pdp.Authorizer.mode":              {"enforce", "shadow"},
	"pdp.Authorizer.onFailure":         {"deny", "allow"},
	"policy.Content.parts":             {"text", "file", "data"},
	"policy.Rule.bindings":             {"JSONRPC", "HTTP+JSON", "GRPC"},
	"policy.Rule.effect":               {"allow", "deny"},
	"policy.Rule.mode":                 {"enforce", "shadow"},
	"policy.SkillsConfig.scopes":       {"off", "card"},
	"policy.SkillsConfig.undeclared":   {"require-all", "require-any", "deny", "agent"},
	"policy.TasksConfig.contexts":      {"derive", "adopt"},
	"policy.TasksConfig.scope":         {"principal", "tenant", "agent"},
	"agents.Config.fileBytes":          {"doubled", "plain"},
	"agents.Config.modes":              {"off", "report", "enforce"},
	"agents.Config.quirks":             {"zoneless-times", "mixed-objects", "method-paths"},
	"agents.SkillConfig.schemas":       {"off", "report", "enforce"},
	"agents.AuthorizationConfig.links": {"refuse", "report"},
	"push.Config.challenge":            {"off", "required"},
	"push.Config.mode":                 {"off", "passthrough", "relay"},
	"push.Config.payload":              {"task", "event"},
	"redact.Config.detectors":          {"email", "card", "token", "key", "privateKey", "none"},
	"redact.Place.action":              {"remove", "mask", "hash"},
	"server.ACME.challenges":           {"tls-alpn-01", "http-01"},
	"server.ACME.keyType":              {"p256", "p384", "rsa2048", "rsa4096"},
	"server.TLS.clientAuth":            {"off", "request", "optional", "require"},
	"server.TLS.minVersion":            {"1.3", "1.2"},
	"state.Config.driver":              {"memory", "sqlite", "redis"},
	"state.SQLiteConfig.sync":          {"normal", "full"},
	"stream.Config.grammar":            {"enforce", "strict", "report", "off"},
	"stream.Config.persist":            {"auto", "off"},
	"telemetry.Logs.format":            {"json", "text"},
	"telemetry.Logs.level":             {"debug", "info", "warn", "error"},
	"trust.Config.collisions":          {"report", "refuse-names", "refuse"},
	"trust.Config.firstSeen":           {"accept", "quarantine"},
	"trust.Config.onChange":            {"accept", "alert", "quarantine"},
	"upstream.Affinity.by":             {"task", "context", "none"},
	"upstream.Credential.on":           {"always", "auth-required"},
	"upstream.Exchange.actor":          {"none", "client", "assertion"},
	"upstream.Exchange.grant":          {"token-exchange", "jwt-bearer"},
	"upstream.Exchange.subject":        {"token", "client", "assertion"},
}
