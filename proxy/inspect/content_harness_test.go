package inspect_test

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// asking asks for extensions.
func asking(uris ...string) []string { return []string{"A2A-Extensions: " + strings.Join(uris, ",")} }

func artifact(s proxytest.Words, part, more string) string {
	if s.Side == proxytest.RPC01 {
		return `{"index":0,"parts":[` + part + `]` + more + `}`
	}
	return `{"artifactId":"a","parts":[` + part + `]` + more + `}`
}

func arrival(s proxytest.Words, id, artifact string) string {
	switch {
	case s.Side == proxytest.RPC01:
		return fmt.Sprintf(`{"id":%q,"artifact":%s}`, id, artifact)
	case s.Side == proxytest.RPC03:
		return fmt.Sprintf(`{"kind":"artifact-update","taskId":%q,"contextId":"c-%s","artifact":%s}`, id, id, artifact)
	}
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":"c-%s","artifact":%s}}`, id, id, artifact)
}

// violations are those of the calls so far, each "fault pointer enforced", once there
// are records of n calls.
func violations(w *proxytest.Gateway, n int) []string {
	w.Helper()
	proxytest.Eventually(w, "record", func() bool { return len(w.Audited("call")) == n })
	var all []string
	for _, r := range w.Audited("call") {
		list, _ := r["violations"].([]any)
		for _, v := range list {
			v, _ := v.(map[string]any)
			all = append(all, fmt.Sprintf("%v %v %v", v["fault"], v["pointer"], v["enforced"]))
		}
	}
	return all
}
