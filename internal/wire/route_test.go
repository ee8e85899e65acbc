package wire

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// TestByRoute has the paths that need thought.
func TestByRoute(t *testing.T) {
	t.Parallel()
	type want struct {
		method                 string
		version                Version
		tenant, task, configID string
	}
	const getConfig = "GetTaskPushNotificationConfig"
	for _, tt := range []struct {
		request string
		want    want
	}{
		{"POST /message:send", want{SendMessage, V10, "", "", ""}},
		{"POST /acme/message:stream", want{SendStreamingMessage, V10, "acme", "", ""}},
		{"POST /v1/message:send", want{SendMessage, V03, "", "", ""}},
		{"GET /tasks", want{ListTasks, V10, "", "", ""}},
		{"GET /acme/tasks", want{ListTasks, V10, "acme", "", ""}},
		{"GET /v1/tasks", want{ListTasks, V03, "", "", ""}},
		{"GET /v1/card", want{GetExtendedAgentCard, V03, "", "", ""}},
		{"GET /extendedAgentCard", want{GetExtendedAgentCard, V10, "", "", ""}},
		{"GET /tasks/7", want{GetTask, V10, "", "7", ""}},
		{"GET /a%20b/tasks/7", want{GetTask, V10, "a b", "7", ""}},
		{"POST /tasks/7:cancel", want{CancelTask, V10, "", "7", ""}},
		{"POST /v1/tasks/7:cancel", want{CancelTask, V03, "", "7", ""}},
		{"GET /tasks/7:subscribe", want{SubscribeToTask, V10, "", "7", ""}},
		{"POST /tasks/7:subscribe", want{SubscribeToTask, V10, "", "7", ""}},
		// Colons belong to the id unless a verb follows the last one.
		{"GET /tasks/a:b", want{GetTask, V10, "", "a:b", ""}},
		{"GET /tasks/a:b:", want{GetTask, V10, "", "a:b:", ""}},
		{"POST /tasks/a:b:cancel", want{CancelTask, V10, "", "a:b", ""}},
		{"POST /tasks/a:cancel:cancel", want{CancelTask, V10, "", "a:cancel", ""}},
		{"GET /tasks/a%3Ab", want{GetTask, V10, "", "a:b", ""}},
		{"GET /tasks/:cancel", want{GetTask, V10, "", ":cancel", ""}},
		{"GET /tasks/%C3%A9", want{GetTask, V10, "", "é", ""}},
		// Decoded once only.
		{"GET /tasks/%2541", want{GetTask, V10, "", "%41", ""}},
		{"GET /tasks/7/pushNotificationConfigs/c", want{getConfig, V10, "", "7", "c"}},
		{"GET /tasks/7:cancel/pushNotificationConfigs/c:cancel", want{getConfig, V10, "", "7:cancel", "c:cancel"}},
		{"POST /x/tasks/7/pushNotificationConfigs", want{CreatePushConfig, V10, "x", "7", ""}},
		{"GET /tasks/7/pushNotificationConfigs", want{"ListTaskPushNotificationConfigs", V10, "", "7", ""}},
		{"DELETE /v1/tasks/7/pushNotificationConfigs/c", want{"DeleteTaskPushNotificationConfig", V03, "", "7", "c"}},
		// What is known without a tenant is never read with one.
		{"GET /tasks/tasks", want{GetTask, V10, "", "tasks", ""}},
		{"GET /tasks/extendedAgentCard", want{GetTask, V10, "", "extendedAgentCard", ""}},
		{"GET /tasks/tasks/7", want{GetTask, V10, "tasks", "7", ""}},
	} {
		verb, path, _ := strings.Cut(tt.request, " ")
		r, ok := ByRoute(verb, path)
		if !ok || r.Method == nil {
			t.Errorf("%s: no method, %v", tt.request, r.Allow)
			continue
		}
		if got := (want{r.Method.Name, r.Version, r.Tenant, r.TaskID, r.ConfigID}); got != tt.want {
			t.Errorf("%s: %+v", tt.request, got)
		}
	}
}

// TestByRouteRefuses has paths that are no operation's, most of them because
// some servers read them as one.
func TestByRouteRefuses(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "/", "tasks", "//", "/tasks/", "//tasks", "/tasks//7", "/acme//tasks", "/v1", "/v1/", "/v1/acme/tasks", "/v1/extendedAgentCard",
		"/card", "/V1/tasks", "/Tasks", "/TASKS/7", "/message:Send", "/message", "/message:send/", "/message:send:send", "/message%3Asend",
		"/%6dessage:send", "/tasks%2f7", "/tasks/a%2Fb", "/tasks/a%2fb:cancel", "/tasks/a%5Cb", `/tasks/a\b`, "/a%2fb/tasks", "/tasks/.",
		"/tasks/..", "/tasks/%2e", "/tasks/%2E%2e", "/../tasks", "/./tasks", "/tasks/../tasks/7", "/tasks/7%3Acancel", "/tasks/7%3acancel",
		"/tasks/7:%63ancel", "/tasks/7:Cancel", "/x/tasks/7:SUBSCRIBE", "/v1/tasks/7:Cancel", "/tasks/7%", "/tasks/%zz", "/tasks/7/pushNotificationConfigs/", "/tasks/7/pushnotificationconfigs",
		"/tasks/7/pushNotificationConfigs/c/d", "/a/b/tasks/7", "/a/b/c/d/e/f/g", "/tasks/7/history", "/message:send?x", "/.well-known/agent-card.json",
		"/agent/authenticatedExtendedCard", "/%76%31/tasks", "/%561/tasks", "/%74asks/tasks", "/V1/message:send",
	} {
		for _, verb := range []string{"GET", "POST", "DELETE"} {
			if r, ok := ByRoute(verb, path); ok {
				t.Errorf("%s %s is %+v", verb, path, r)
			}
		}
	}
}

// TestByRouteAllow names the verbs of a path that was asked with another.
func TestByRouteAllow(t *testing.T) {
	t.Parallel()
	for request, allow := range map[string][]string{
		"GET /message:send":                          {"POST"},
		"PUT /acme/message:send":                     {"POST"},
		"HEAD /tasks/7":                              {"GET"},
		"GET /tasks/7:cancel":                        {"POST"},
		"DELETE /tasks/7:subscribe":                  {"GET", "POST"},
		"PUT /v1/tasks/7/pushNotificationConfigs":    {"GET", "POST"},
		"POST /v1/tasks/7/pushNotificationConfigs/c": {"DELETE", "GET"},
		"get /tasks":                                 {"GET"},
		"POST /v1/card":                              {"GET"},
	} {
		verb, path, _ := strings.Cut(request, " ")
		r, ok := ByRoute(verb, path)
		slices.Sort(r.Allow)
		if !ok || r.Method != nil || !slices.Equal(r.Allow, allow) {
			t.Errorf("%s: %t, %+v", request, ok, r)
		}
		var c Call
		e := c.DecodeHTTP(r, nil, nil, "", Limits{})
		if e == nil || e.Kind != VerbNotAllowed || e.Header.Get("Allow") != strings.Join(r.Allow, ", ") || c.Version != r.Version {
			t.Errorf("%s: %v", request, e)
		}
	}
}

// TestEveryRoute: each operation is reached by each of its verbs in each
// version that has it, with and without tenant.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("{task}", "t:1", "{config}", "c:2")
	for _, m := range Methods() {
		path03 := m.Path03
		if path03 == "" {
			path03 = "/v1" + m.Path
		}
		want := Route{TaskID: "", ConfigID: ""}
		if strings.Contains(m.Path, "{task}") {
			want.TaskID = "t:1"
		}
		if strings.Contains(m.Path, "{config}") {
			want.ConfigID = "c:2"
		}
		for path, v := range map[string]Version{m.Path: V10, "/acme" + m.Path: V10, path03: V03} {
			for _, verb := range m.Verbs {
				got, ok := ByRoute(verb, fill.Replace(path))
				want.Version, want.Tenant = v, ""
				if strings.HasPrefix(path, "/acme/") {
					want.Tenant = "acme"
				}
				if !ok || got.Method == nil || got.Method.Name != m.Name {
					t.Errorf("%s %s: %+v", verb, path, got)
				}
				got.Method = nil
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s: %s", verb, path, diff)
				}
			}
		}
	}
}

// TestMethodTable checks the rows against each other.
func TestMethodTable(t *testing.T) {
	t.Parallel()
	names := map[nameKey]string{}
	for _, m := range Methods() {
		if m.Name == "" || m.Subject < OfMessage || m.Subject > OfAgent || len(m.Verbs) == 0 || !strings.HasPrefix(m.Path, "/") {
			t.Errorf("incomplete row: %+v", m)
		}
		if strings.Contains(m.Path, "{task}") != (m.Subject == OfTask || m.Subject == OfConfig) {
			t.Errorf("%s: path %s does not go with its subject", m.Name, m.Path)
		}
		if m.Push != (m.Subject == OfConfig) || strings.Contains(m.Path, "{config}") && !m.Push {
			t.Errorf("%s: push", m.Name)
		}
		if m.Writes && slices.Contains(m.Verbs, http.MethodGet) {
			t.Errorf("%s writes by GET", m.Name)
		}
		for v, name := range map[Version]string{V10: m.Name, V03: m.V03, V01: m.V01} {
			if name == "" {
				continue
			}
			if other, ok := names[nameKey{v, name}]; ok {
				t.Errorf("%s is %s and %s in %s", name, m.Name, other, v)
			}
			names[nameKey{v, name}] = m.Name
			got, ok := ByName(v, name)
			if !ok || got.Name != m.Name {
				t.Errorf("%s %s is not found", v, name)
			}
		}
		if _, ok := ByName(V10, strings.ToLower(m.Name)); ok {
			t.Errorf("%s is found in lower case", m.Name)
		}
	}
	if len(methods) != 11 {
		t.Errorf("%d operations", len(methods))
	}
	for _, name := range []string{
		SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask, GetExtendedAgentCard, CreatePushConfig,
	} {
		if _, ok := ByName(V10, name); !ok {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// TestNames checks that the tables of members are unambiguous.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, n := range []*Names{
		envelopeNames, sendNames, sendNamesHTTP03, sendNames01, taskNames, configNames, configNames03,
		listNames, agentNames, messageNames, configurationNames, pushNames,
	} {
		var bits uint32
		for _, sp := range n.List {
			if len(sp.Folded) > jsonscan.LongestName || bits&sp.Bit != 0 || sp.Bit == 0 || sp.Field == fieldNone {
				t.Errorf("%+v", sp)
			}
			bits |= sp.Bit
			for _, name := range []string{sp.Camel, sp.Snake} {
				if _, f := n.Find([]byte(name)); f != sp.Field {
					t.Errorf("%s is not found", name)
				}
			}
		}
	}
}
