package signature

import (
	"slices"
)

// What the SDK for Python knows in 0.3. All of it has presence there: what is absent is
// None, which is the default.
var (
	// The order of fields does not matter: members are sorted when the form is written.
	legacyCard = schema{snake: true, fields: slices.Concat(
		optional("name", "description", "version", "url", "documentationUrl", "iconUrl"),
		[]field{
			{name: "preferredTransport", shape: text, initial: "JSONRPC"},
			{name: "protocolVersion", shape: text, initial: "0.3.0"},
			{name: "additionalInterfaces", shape: messages, of: &legacyInterface},
			{name: "provider", shape: message, of: &providerMessage},
			{name: "capabilities", shape: message, of: &legacyCapabilities},
			{name: "securitySchemes", shape: messageMap, of: &legacyScheme},
			{name: "security", shape: anything},
			{name: "defaultInputModes", shape: texts},
			{name: "defaultOutputModes", shape: texts},
			{name: "skills", shape: messages, of: &legacySkill},
			{name: "supportsAuthenticatedExtendedCard", shape: flag, optional: true},
		})}

	legacyInterface = schema{snake: true, fields: optional("url", "transport")}

	legacyCapabilities = schema{snake: true, fields: []field{
		{name: "streaming", shape: flag, optional: true},
		{name: "pushNotifications", shape: flag, optional: true},
		{name: "stateTransitionHistory", shape: flag, optional: true},
		{name: "extensions", shape: messages, of: &legacyExtension},
	}}

	legacyExtension = schema{snake: true, fields: append(optional("uri", "description"),
		field{name: "required", shape: flag, optional: true}, field{name: "params", shape: object})}

	legacySkill = schema{snake: true, fields: append(optional("id", "name", "description"),
		field{name: "tags", shape: texts},
		field{name: "examples", shape: texts},
		field{name: "inputModes", shape: texts},
		field{name: "outputModes", shape: texts},
		field{name: "security", shape: anything})}

	// A scheme's type is that of its class, and thereby a default.
	legacyScheme = schema{snake: true, fields: append(
		optional("description", "in", "name", "scheme", "bearerFormat", "openIdConnectUrl", "oauth2MetadataUrl"),
		field{name: "type", shape: implied},
		field{name: "flows", shape: message, of: &legacyFlows})}

	legacyFlows = schema{snake: true, fields: []field{
		{name: "authorizationCode", shape: message, of: &legacyFlow},
		{name: "clientCredentials", shape: message, of: &legacyFlow},
		{name: "implicit", shape: message, of: &legacyFlow},
		{name: "password", shape: message, of: &legacyFlow},
	}}

	legacyFlow = schema{snake: true, fields: append(
		optional("authorizationUrl", "tokenUrl", "refreshUrl"), field{name: "scopes", shape: textMap})}
)
