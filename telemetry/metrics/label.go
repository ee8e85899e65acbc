package metrics

import (
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// label is one label of a metric and all the values it can have. The number of series, their
// cardinality, is bounded by it, docs/metrics.md lists it, and what rules and dashboards ask for is
// held against it.
type label struct {
	name   string
	from   string   // where values come from that the configuration or the build brings; "" for none
	values []string // those that are always the same
}

// closedSet are the labels whose values are the same in every metric that has them. What
// stands in none of the sets is counted as other, what is absent as none.
func closedSet(name string) label {
	rest := []string{labelNone, labelOther}
	switch name {
	case "agent":
		return label{name, "`agents[].id`", rest}
	case "method":
		return label{name, "names of methods in `extensions[].methods`", methodNames()}
	case "rule":
		// Those that stand in the place of a rule are policy.Undecided's.
		return label{name, "`policy.rules[].name`", append([]string{"default", "credential", "undeclared", "skill-scopes"}, rest...)}
	case "uri":
		return label{name, "`extensions[].uri`, and the extensions that the gateway provides", rest}
	case "provider":
		return label{name, "issuers of `authn.oidc`", append([]string{"api-keys", "mtls", "unknown"}, rest...)}
	case "limit":
		return label{name, "`policy.limits` by name", rest}
	case "authorizer":
		return label{name, "`policy.authorizers[].name`", rest}
	case "guard":
		return label{name, "`policy.guards[].name`", rest}
	case "address":
		return label{name, "addresses of `agents[].load.instances`, 32 of an agent", nil}
	case "domain":
		return label{name, "`server.tls.acme.domains`", rest}
	case "binding":
		return label{name, "", append([]string{wire.JSONRPC.String(), wire.HTTPJSON.String(), wire.GRPC.String(), wire.MCP.String()}, rest...)}
	case "code":
		return label{name, "", codeNames()}
	case "detector":
		return label{name, "", detectors()}
	case "sink":
		return label{name, "", sinkKinds()}
	case "operation":
		return label{name, "", operations()}
	case "version", "go_version":
		return label{name, "the build", nil}
	}
	return label{name: name}
}

// methodNames are those that the label method always has, in their order.
func methodNames() []string {
	names := make([]string, len(coreMethods))
	for name, i := range coreMethods {
		names[i] = name
	}
	return names
}

// codeNames are those of a call: reasons, and classes of statuses without one.
func codeNames() []string {
	return slices.DeleteFunc(newCodeIndex().names, func(name string) bool {
		return strings.HasPrefix(name, "HTTP_") && name < "HTTP_4XX"
	})
}

// operations are the names of what is asked of the state.
func operations() []string {
	return []string{
		"ready", "claim", "lookup", "list", "count", "advance", "draw", "release", "add", "replace", "append", "read", "push",
		"take", "done", "again", "bury", "revive", "remove", "items", "depth", labelOther,
	}
}

// valueList are the values of labels that are too many for a declaration, or that the code
// goes by. Every metric that names a list has a label of these values.
func valueList(name string) []string {
	switch name {
	case "agentStates":
		return agentStates
	case "cardStates":
		return append(slices.Clip(cardStates), labelOther)
	case "decisions":
		return decisionNames[:]
	case "faults":
		return faultNames[:]
	case "frames":
		return frames()
	case "guardKinds":
		return guardKinds()
	case "grammar":
		return append(grammarRules[:], labelOther)
	case "quirks":
		return append(quirkNames[:], labelOther)
	case "strict":
		return strictRules()
	case "taskStates":
		return taskStateLabels
	}
	return nil
}

// parseLabels reads the labels of a declaration.
func parseLabels(specs []string) []label {
	labels := make([]label, len(specs))
	for i, spec := range specs {
		name, values, own := strings.Cut(spec, "=")
		list, isList := strings.CutPrefix(values, "$")
		switch {
		case isList:
			labels[i] = label{name: name, values: valueList(list)}
		case own:
			labels[i] = label{name: name, values: strings.Split(values, "|")}
		default:
			labels[i] = closedSet(name)
		}
	}
	return labels
}
