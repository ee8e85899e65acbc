package telemetry

import "go.opentelemetry.io/otel/attribute"

// Names of span attributes. The a2a.* and gen_ai.* ones are those of the
// OpenTelemetry generative-AI conventions, docs/gen-ai/a2a.md, schema
// gen-ai-dev/1.42.0-dev (status Development; Go's semconv packages do not carry
// them). The a2a_gateway.* ones are this project's own and stable.
const (
	attrMethod    = attribute.Key("a2a.method.name")
	attrMessage   = attribute.Key("a2a.message.id")
	attrTask      = attribute.Key("a2a.task.id")
	attrTaskState = attribute.Key("a2a.task.state")
	attrTenant    = attribute.Key("a2a.tenant")
	attrVersion   = attribute.Key("a2a.protocol.version")
	attrContext   = attribute.Key("gen_ai.conversation.id") // A2A's contextId
	attrError     = attribute.Key("error.type")

	attrReferences = attribute.Key("a2a.message.reference_task_ids")
	attrAgentName  = attribute.Key("gen_ai.agent.name") // by the agent's card

	attrRPCSystem     = attribute.Key("rpc.system.name")
	attrRPCMethod     = attribute.Key("rpc.method")
	attrJSONRPC       = attribute.Key("jsonrpc.protocol.version")
	attrVerb          = attribute.Key("http.request.method")
	attrRoute         = attribute.Key("http.route")
	attrStatus        = attribute.Key("http.response.status_code")
	attrServerAddress = attribute.Key("server.address")
	attrServerPort    = attribute.Key("server.port")
	attrClientAddress = attribute.Key("client.address")

	attrAgent     = attribute.Key("a2a_gateway.agent")
	attrSkill     = attribute.Key("a2a_gateway.skill")
	attrRequestID = attribute.Key("a2a_gateway.request.id")
	attrRequested = attribute.Key("a2a_gateway.extensions.requested")
	attrActivated = attribute.Key("a2a_gateway.extensions.activated")
	attrInjected  = attribute.Key("a2a_gateway.extensions.injected")
	attrProvided  = attribute.Key("a2a_gateway.extensions.provided")
	attrRefused   = attribute.Key("a2a_gateway.extensions.refused")
	attrViolated  = attribute.Key("a2a_gateway.extensions.violations") // how many
	attrGuarded   = attribute.Key("a2a_gateway.guards.findings")       // how many
	attrDecision  = attribute.Key("a2a_gateway.policy.decision")
	attrRule      = attribute.Key("a2a_gateway.policy.rule")
	attrPrincipal = attribute.Key("a2a_gateway.principal.type")
	attrProof     = attribute.Key("a2a_gateway.proof")
	attrACR       = attribute.Key("a2a_gateway.acr")
	attrActors    = attribute.Key("a2a_gateway.actors") // how many
	attrHops      = attribute.Key("a2a_gateway.hops")   // how many
	attrConsent   = attribute.Key("a2a_gateway.policy.consent")
	attrShown     = attribute.Key("a2a_gateway.credentials")            // kinds and headers
	attrDemanded  = attribute.Key("a2a_gateway.authorization.hosts")    // how many
	attrAnswered  = attribute.Key("a2a_gateway.authorization.provided") // by the gateway
	attrEvents    = attribute.Key("a2a_gateway.stream.events")
	attrEnd       = attribute.Key("a2a_gateway.stream.end")
	attrRegained  = attribute.Key("a2a_gateway.stream.regained") // how often
	attrTries     = attribute.Key("a2a_gateway.upstream.attempts")
	attrInstance  = attribute.Key("a2a_gateway.upstream.instance")
	attrOwn       = attribute.Key("a2a_gateway.upstream.own") // a question of the gateway's own
	attrLimit     = attribute.Key("a2a_gateway.limit")
	attrRepeated  = attribute.Key("a2a_gateway.deduplicated")
	attrAttempt   = attribute.Key("a2a_gateway.push.attempt")
	attrOutcome   = attribute.Key("a2a_gateway.push.outcome")
	attrLink      = attribute.Key("a2a_gateway.link") // why a span is linked to another
	attrTrusted   = attribute.Key("a2a_gateway.caller.trusted")
)

// Attributes of span events.
const (
	attrEventNumber = attribute.Key("a2a_gateway.stream.event.number")
	attrEventKind   = attribute.Key("a2a_gateway.stream.event.kind")
)

// The instrumentation scope and the default service name of exported spans.
const (
	scopeName   = "github.com/a2a-gateway/a2a-gateway/telemetry"
	serviceName = "a2a-gateway"
)
