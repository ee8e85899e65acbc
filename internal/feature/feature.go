// Package feature is the registry of add-ons: parts of the gateway that a build may leave out.
//
// `go build` makes the program with all of them. `go build -tags minimal` leaves them out, with the
// libraries that only they need. An add-on has its code in files with the build constraint
// `!minimal`, one of which registers it:
//
//	var _ = feature.Register(feature.Kafka)
//
// and one file with the constraint `minimal`, which has the functions that the core calls and
// answers each of them with Need. What is registered is therefore what is linked: nobody has to
// keep a list of build tags beside the code.
//
// The sections of add-ons are read and checked in every build, so that a configuration that asks
// for an absent one is refused with the place of its key, by `validate` as by `serve`, and not with
// "unknown key", which would send its author looking for a slip of the pen.
package feature

import "fmt"

// Part is an add-on, by the name that `a2a-gateway version` and errors have for it.
type Part string

// The add-ons.
const (
	ACME      Part = "ACME"                    // server.tls.acme, RFC 8555
	Demo      Part = "demo"                    // the verb, with its sample agents and its issuer of tokens
	ExtAuthz  Part = "ext_authz"               // policy.authorizers[].kind: Envoy's protocol over gRPC
	Exporters Part = "OpenTelemetry exporters" // OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER
	Kafka     Part = "Kafka"                   // telemetry.audit.sinks[].kafka
	MCP       Part = "MCP"                     // server.mcp, the endpoint whose tools are skills
	OTLPLogs  Part = "OTLP logs"               // telemetry.audit.sinks[].otlp
	Postgres  Part = "PostgreSQL"              // telemetry.audit.sinks[].postgres
	Redis     Part = "Redis"                   // state.driver
)

// all is every add-on that there is, in the order in which Absent lists them.
var all = []Part{ACME, Demo, ExtAuthz, Kafka, MCP, Exporters, OTLPLogs, Postgres, Redis}

// linked is what Register was told: written while packages are initialised, which happens in one
// goroutine before main, and only read afterwards. It needs no lock for that reason. A registry that
// is filled by what is linked cannot be a constant.
var linked = map[Part]bool{}

// Register says that an add-on is part of this program. The code of the add-on calls it as it is
// initialised; it returns true for want of statements outside of functions.
func Register(p Part) bool {
	linked[p] = true
	return true
}

// Need returns nil where an add-on is part of this program, and else the error for whatever asked
// for it. The error names no key: its caller knows which one it is (internal/keypath).
func Need(p Part) error {
	if linked[p] {
		return nil
	}
	return fmt.Errorf("this a2a-gateway was built without %s (-tags minimal)", p)
}

// Absent lists the names of the add-ons that this program was built without, sorted; nil in the usual
// build.
func Absent() []string {
	var names []string
	for _, p := range all {
		if !linked[p] {
			names = append(names, string(p))
		}
	}
	return names
}
