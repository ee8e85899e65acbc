package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestConditionIsMeasured: the limits and what is in use of them, how far the disk is
// behind the audit log, and when the certificate ends.
func TestConditionIsMeasured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, transport := w.secure()
	agent := newCounter(t, nil)
	g := w.start(w.yaml(server+"\nlimits: {requests: 77, streams: 11, connections: 33}",
		openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	connections := transport()
	defer connections.CloseIdleConnections()
	c := &http.Client{Transport: connections, Timeout: patience}
	status, body, err := try(c, http.MethodPost, g.URL()+"/agents/a", sendHeader(w.token("caller")), sendBody("SendMessage", "1"))
	if err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	eventually(t, "all records on the disk", func() bool {
		_, metrics := fetch(t, g.StatusURL()+"/metrics", nil)
		return strings.Contains(metrics, "\na2a_gateway_audit_unsynced_records 0\n")
	})
	_, metrics := fetch(t, g.StatusURL()+"/metrics", nil)
	for _, line := range []string{
		`limit_max{limit="requests"} 77`, `limit_max{limit="streams"} 11`, `limit_max{limit="connections"} 33`,
		`limit_used{limit="requests"} 0`, `limit_used{limit="streams"} 0`, `limit_used{limit="connections"} 1`,
		`audit_lag_seconds 0`, `audit_failing 0`, `tls_certificate_expiry_timestamp_seconds 1`,
	} {
		if !strings.Contains(metrics, "\na2a_gateway_"+line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
