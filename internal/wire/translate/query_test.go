package translate

import (
	"net/url"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// strayHeaders are params that a query would make headers of, to agents that read the
// service parameters there too.
const strayHeaders = `"A2A-Extensions":"https://denied.example/ext","A2A-Version":"0.3","X-A2A-Extensions":"urn:x",` +
	`"a2a-version":0.3,"A2A_VERSION":true,"x_a2a_extensions":"urn:x","A2a\u002dVersion":"0.3","\u0041\u0032a-extensions":"urn:x",` +
	`"A2A-Verſion":"0.3"`

// TestQueryHasNoServiceParameters: params that are called as a service parameter end
// where there are no params; others that A2A does not know become parameters.
func TestQueryHasNoServiceParameters(t *testing.T) {
	t.Parallel()
	for method, tt := range map[string]struct{ ids, line string }{
		wire.GetTask:              {`"id":"T",`, "GET /tasks/T"},
		wire.ListTasks:            {``, "GET /tasks"},
		getConfig:                 {`"taskId":"T","id":"c",`, "GET /tasks/T/pushNotificationConfigs/c"},
		listConfigs:               {`"taskId":"T",`, "GET /tasks/T/pushNotificationConfigs"},
		deleteConfig:              {`"taskId":"T","id":"c",`, "DELETE /tasks/T/pushNotificationConfigs/c"},
		wire.GetExtendedAgentCard: {``, "GET /extendedAgentCard"},
	} {
		doc := "{" + tt.ids + strayHeaders + `,"x\u002dy":"a b"}`
		c, q := decode(t, exchange{side: rpc10, method: method, doc: doc})
		out, e := Request(c, q, To{Side: http10})
		if e != nil {
			t.Fatal(e)
		}
		if line := out.Verb + " " + out.Path; line != tt.line || out.Query != "x-y=a+b" || out.Body != nil {
			t.Errorf("%s became %s?%s %s", method, line, out.Query, out.Body)
		}
	}
}

// checkQuery holds what is true of every query.
func checkQuery(t *testing.T, query url.Values) {
	t.Helper()
	for name := range query {
		if isService(name) {
			t.Errorf("the query says %s", name)
		}
	}
}
