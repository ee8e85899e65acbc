package signature

import (
	"slices"
	"strings"
)

// shape is what a member of a message is. Signers who make a card from their SDK's types leave
// out what has its default value, and which values those are depends on the type.
type shape int

const (
	text shape = iota
	flag
	object   // any JSON object
	anything // any JSON value
	texts
	message
	messages
	textMap
	textsMap
	messageMap
	implied // follows from the others and is left out
)

// field is a member that a version's schema knows.
// In Protobuf's terms: optional is explicit presence, required is google.api.field_behavior
// REQUIRED.
type field struct {
	name     string
	shape    shape
	of       *schema // of messages
	required bool    // kept by formPresence even with its default value
	optional bool    // has presence: kept whenever it was set
	initial  string  // the default of a text, where that is not ""
}

// schema is what a version knows of an object. Messages are few and small: a list that
// is searched does.
type schema struct {
	fields []field
	snake  bool // readers also take names_in_this_form, as those of Protobuf do
}

// field finds a member by its name, and says which name it goes by.
func (s *schema) field(name string) (string, *field) {
	if s.snake && strings.Contains(name, "_") {
		name = camel(name)
	}
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return name, nil
	}
	return name, &s.fields[i]
}

// camel is the JSON name of a Protobuf field, by the rule of its JSON mapping. It is asked for names of
// either kind, and leaves those of JSON as they are.
func camel(name string) string {
	var b strings.Builder
	for i, part := range strings.Split(name, "_") {
		if i > 0 && part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// isDefault reports the value that a message has for a member that is not set.
// It decides only what is left out before signing, and never what is valid.
func (f *field) isDefault(v *value) bool {
	switch f.shape {
	case text:
		return v.text == f.initial
	case flag:
		return v.kind == 'f'
	case texts, messages, textMap, textsMap, messageMap:
		return v.empty()
	case implied:
		return true
	case message, object, anything:
		return false // a message that is set is set, even if nothing in it is
	}
	return false
}

// required, plain and optional are texts by what becomes of an empty one: kept in any case,
// left out, or kept where it was set.
func required(names ...string) []field { return texted(field{required: true}, names) }
func plain(names ...string) []field    { return texted(field{}, names) }
func optional(names ...string) []field { return texted(field{optional: true}, names) }

// texted are texts that have all but their names in common.
func texted(f field, names []string) []field {
	list := make([]field, 0, len(names))
	for _, name := range names {
		f.name = name
		list = append(list, f)
	}
	return list
}

// What follows is A2A 1.0's AgentCard (specification/a2a.proto), and in legacy.go 0.3's. It is written
// out here and not taken from the SDK's descriptors: what was signed with a version stays signed by
// that version's schema, whatever a later one adds.
var (
	cardMessage = schema{snake: true, fields: slices.Concat(
		required("name", "description", "version"), optional("documentationUrl", "iconUrl"),
		[]field{
			{name: "supportedInterfaces", shape: messages, of: &interfaceMessage, required: true},
			{name: "provider", shape: message, of: &providerMessage},
			{name: "capabilities", shape: message, of: &capabilitiesMessage, required: true},
			{name: "securitySchemes", shape: messageMap, of: &schemeMessage},
			{name: "securityRequirements", shape: messages, of: &requirementMessage},
			{name: "defaultInputModes", shape: texts, required: true},
			{name: "defaultOutputModes", shape: texts, required: true},
			{name: "skills", shape: messages, of: &skillMessage, required: true},
		})}

	// What is left of it for the SDK for JavaScript.
	cardNoSchemes = schema{snake: true, fields: slices.DeleteFunc(slices.Clone(cardMessage.fields),
		func(f field) bool { return f.name == "securitySchemes" })}

	interfaceMessage = schema{snake: true, fields: slices.Concat(
		required("url", "protocolBinding", "protocolVersion"), plain("tenant"))}

	providerMessage = schema{snake: true, fields: required("url", "organization")}

	capabilitiesMessage = schema{snake: true, fields: []field{
		{name: "streaming", shape: flag, optional: true},
		{name: "pushNotifications", shape: flag, optional: true},
		{name: "extendedAgentCard", shape: flag, optional: true},
		{name: "extensions", shape: messages, of: &extensionMessage},
	}}

	extensionMessage = schema{snake: true, fields: append(plain("uri", "description"),
		field{name: "required", shape: flag}, field{name: "params", shape: object})}

	skillMessage = schema{snake: true, fields: append(required("id", "name", "description"),
		field{name: "tags", shape: texts, required: true},
		field{name: "examples", shape: texts},
		field{name: "inputModes", shape: texts},
		field{name: "outputModes", shape: texts},
		field{name: "securityRequirements", shape: messages, of: &requirementMessage})}

	requirementMessage = schema{snake: true, fields: []field{
		{name: "schemes", shape: messageMap, of: &listMessage},
	}}

	listMessage = schema{snake: true, fields: []field{{name: "list", shape: texts}}}

	schemeMessage = schema{snake: true, fields: []field{
		{name: "apiKeySecurityScheme", shape: message, of: &schema{snake: true, fields: append(
			plain("description"), required("location", "name")...)}},
		{name: "httpAuthSecurityScheme", shape: message, of: &schema{snake: true, fields: append(
			plain("description", "bearerFormat"), required("scheme")...)}},
		{name: "oauth2SecurityScheme", shape: message, of: &schema{snake: true, fields: append(
			plain("description", "oauth2MetadataUrl"),
			field{name: "flows", shape: message, of: &flowsMessage, required: true})}},
		{name: "openIdConnectSecurityScheme", shape: message, of: &schema{snake: true, fields: append(
			plain("description"), required("openIdConnectUrl")...)}},
		{name: "mtlsSecurityScheme", shape: message, of: &schema{snake: true, fields: plain("description")}},
	}}

	// OAuth 2.1 has no implicit and password flows any more; cards may name them still.
	flowsMessage = schema{snake: true, fields: []field{
		{name: "authorizationCode", shape: message, of: &schema{snake: true, fields: append(
			required("authorizationUrl", "tokenUrl"), append(flowFields(true),
				field{name: "pkceRequired", shape: flag})...)}},
		{name: "clientCredentials", shape: message, of: &schema{snake: true, fields: append(
			required("tokenUrl"), flowFields(true)...)}},
		{name: "implicit", shape: message, of: &schema{snake: true, fields: append(
			plain("authorizationUrl"), flowFields(false)...)}},
		{name: "password", shape: message, of: &schema{snake: true, fields: append(
			plain("tokenUrl"), flowFields(false)...)}},
		{name: "deviceCode", shape: message, of: &schema{snake: true, fields: append(
			required("deviceAuthorizationUrl", "tokenUrl"), flowFields(true)...)}},
	}}
)

// flowFields are those of every OAuth flow.
func flowFields(scopesRequired bool) []field {
	return append(plain("refreshUrl"), field{name: "scopes", shape: textMap, required: scopesRequired})
}
