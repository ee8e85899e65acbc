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

	attrRPCSystem     = attribute.Key("rpc.system.name")
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
	attrTrusted   = attribute.Key("a2a_gateway.caller.trusted")
)

// The instrumentation scope and the default service name of exported spans.
const (
	scopeName   = "github.com/a2a-gateway/a2a-gateway/telemetry"
	serviceName = "a2a-gateway"
)
