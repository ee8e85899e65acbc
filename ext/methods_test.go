package ext

import (
	"strings"
	"testing"
)

// TestA09_PathsOfTheGateway: what the gateway reads itself is no method's path.
func TestA09_PathsOfTheGateway(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/skills/find":             "addresses of skills",
		"/skills/{task}":           "addresses of skills",
		"/.well-known/agent":       "not for extensions",
		"/.well-known/agent.json":  "not for extensions",
		"/skills":                  "",
		"/skills:find":             "",
		"/acme/skills/{task}:find": "",
	} {
		_, err := Registry{{URI: "https://acme.example/x/v1", Kind: Method, Methods: []MethodConfig{
			{Name: "acme/x", Verb: "POST", Path: path},
		}}}.Compile()
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", path, err)
		case want != "" && !strings.Contains(err.Error(), "[0].methods[0]"):
			t.Errorf("%s: the error does not say where: %v", path, err)
		}
	}
}
