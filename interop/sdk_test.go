package interop_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// side is a version of the protocol in a binding.
type side struct{ version, binding string }

// sides are all that there are.
func sides() []side {
	return []side{
		{"0.1", "JSONRPC"},
		{"0.3", "JSONRPC"}, {"0.3", "HTTP+JSON"}, {"0.3", "GRPC"},
		{"1.0", "JSONRPC"}, {"1.0", "HTTP+JSON"}, {"1.0", "GRPC"},
	}
}

// String is how documents call a side.
func (s side) String() string {
	names := map[string]string{"JSONRPC": "JSON-RPC", "GRPC": "gRPC"}
	if name, ok := names[s.binding]; ok {
		return s.version + " " + name
	}
	return s.version + " " + s.binding
}

// id is a side as a part of an agent's id.
func (s side) id() string {
	return map[string]string{"JSONRPC": "jsonrpc", "HTTP+JSON": "rest", "GRPC": "grpc"}[s.binding]
}

// sdk is one SDK of another language: how its programs are run.
type sdk struct {
	name   string // "@a2a-js/sdk 1.3.0"
	id     string // "js-v1"
	sides  []side
	agent  []string
	client []string
	needs  []string // files and commands without which it cannot run
}

// sdks are those of other languages than Go.
func sdks() []sdk {
	now, old := sides()[4:], sides()[1:4]
	js := func(name, v string, sides []side) sdk {
		return sdk{
			name: name, id: "js-" + v, sides: sides,
			agent:  []string{"node", "js/agent-" + v + ".mjs"},
			client: []string{"node", "js/client-" + v + ".mjs"},
			needs:  []string{"node", "js/node_modules/a2a-" + v + "/package.json", "js/node_modules/@grpc/grpc-js/package.json"},
		}
	}
	python := func(name, v string, sides []side) sdk {
		bin := "python/.venv-" + v + "/bin/python"
		return sdk{
			name: name, id: "python-" + v, sides: sides,
			agent:  []string{bin, "python/agent_" + v + ".py"},
			client: []string{bin, "python/client_" + v + ".py"},
			needs:  []string{bin},
		}
	}
	java := func(name, v string, sides []side) sdk {
		app := "java/" + v + "/target/quarkus-app/"
		// Little of what these do is done often enough to be worth compiling well.
		jvm := []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}
		return sdk{
			name: name, id: "java-" + v, sides: sides,
			agent:  append(slices.Clip(jvm), "-jar", app+"quarkus-run.jar"),
			client: append(slices.Clip(jvm), "-cp", app+"app/*:"+app+"lib/main/*", "interop.Client"),
			needs:  []string{"java", app + "quarkus-run.jar"},
		}
	}
	return []sdk{
		js("@a2a-js/sdk 1.3.0", "v1", now), python("a2a-sdk 1.3.0", "v1", now),
		js("@a2a-js/sdk 0.3.14", "v03", old), python("a2a-sdk 0.3.26", "v03", old),
		java("a2a-java-sdk 0.3.3", "v03", old),
	}
}

// present are the SDKs that are installed; where all should be, nothing may be
// missing.
func present(t *testing.T) []sdk {
	t.Helper()
	var there []sdk
	for _, s := range sdks() {
		lacking := missing(s.needs)
		if lacking == "" {
			there = append(there, s)
			continue
		}
		if requireAll() {
			t.Fatalf("%s needs %s; run interop/setup", s.name, lacking)
		}
		t.Logf("%s is left out: it needs %s; run interop/setup", s.name, lacking)
	}
	needIssuer(t)
	return there
}

// needIssuer skips tests where the issuer, a Node program too, is not installed.
func needIssuer(t *testing.T) {
	t.Helper()
	lacking := missing([]string{"node", "js/node_modules/oidc-provider/package.json", "js/node_modules/jose/package.json"})
	if lacking == "" {
		return
	}
	if requireAll() {
		t.Fatalf("the issuer needs %s; run interop/setup", lacking)
	}
	t.Skipf("the issuer needs %s; run interop/setup", lacking)
}

// requireAll turns skips into failures, for machines that should have all.
func requireAll() bool { return os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") == "1" }

// only keeps what A2A_INTEROP_ONLY asks for, words with spaces between that a
// conversation's name must all have; for looking at one thing.
func only(name string) bool {
	for word := range strings.FieldsSeq(os.Getenv("A2A_INTEROP_ONLY")) {
		if !strings.Contains(name, word) {
			return false
		}
	}
	return true
}
