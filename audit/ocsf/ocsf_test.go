package ocsf

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ record, want string }{
		"call": {
			`{"seq":7,"v":1,"gateway":"gw","type":"call","time":"2026-11-21T12:00:01.5Z","start":"2026-11-21T12:00:01Z","request_id":"r","agent":"billing","skill":"pay","method":"SendMessage","binding":"JSONRPC","version":"1.0","principal":"alice","issuer":"https://login.example.com","client":"app","tenant":"acme","groups":["staff"],"decision":"allow","rule":"team","task_id":"t","status":200,"client_ip":"10.0.0.9","host":"gw.example.com","path":"/agents/billing","user_agent":"curl","endpoint":"https://agent.example.com:8443/rpc","duration_ms":500.123,"hash":"abc"}`,
			`{"activity_id":1,"category_uid":6,"class_uid":6003,"type_uid":600301,"time":1795262401500,"start_time":1795262401000,"duration":500,"severity_id":1,"status_id":1,"action_id":1,"disposition_id":1,"metadata":{"version":"1.9.0","product":{"name":"a2a-gateway","vendor_name":"a2a-gateway","uid":"gw"},"profiles":["security_control"],"uid":"abc","correlation_uid":"r","log_name":"audit","sequence":7,"original_time":"2026-11-21T12:00:01.5Z"},"actor":{"user":{"uid":"alice","domain":"https://login.example.com","groups":[{"name":"staff"}],"org":{"name":"acme"}},"app_name":"app"},"api":{"operation":"SendMessage","version":"1.0","service":{"name":"billing"},"request":{"uid":"r"},"response":{"code":200}},"src_endpoint":{"ip":"10.0.0.9"},"dst_endpoint":{"hostname":"agent.example.com:8443"},"http_request":{"user_agent":"curl","url":{"hostname":"gw.example.com","path":"/agents/billing"}},"policy":{"name":"team"},"resources":[{"type":"agent","uid":"billing"},{"type":"skill","uid":"pay"},{"type":"task","uid":"t"}],"unmapped":{"v":1,"binding":"JSONRPC","endpoint":"https://agent.example.com:8443/rpc"}}`,
		},
		"denied": {
			`{"seq":8,"v":1,"gateway":"gw","type":"call","time":"2026-11-21T12:00:00Z","agent":"billing","method":"CancelTask","principal":"bob","decision":"deny","status":403,"reason":"PERMISSION_DENIED","cause":"no rule"}`,
			`{"activity_id":3,"category_uid":6,"class_uid":6003,"type_uid":600303,"time":1795262400000,"severity_id":3,"status_id":2,"status_code":"PERMISSION_DENIED","status_detail":"no rule","action_id":2,"disposition_id":2,"metadata":{"version":"1.9.0","product":{"name":"a2a-gateway","vendor_name":"a2a-gateway","uid":"gw"},"profiles":["security_control"],"log_name":"audit","sequence":8,"original_time":"2026-11-21T12:00:00Z"},"actor":{"user":{"uid":"bob"}},"api":{"operation":"CancelTask","service":{"name":"billing"},"response":{"code":403,"error":"PERMISSION_DENIED"}},"src_endpoint":{"name":"a2a-gateway"},"resources":[{"type":"agent","uid":"billing"}],"unmapped":{"v":1}}`,
		},
		"event": {
			`{"seq":9,"v":1,"gateway":"gw","type":"event","time":"2026-11-21T12:00:00Z","event":"push.drop","attrs":{"who":"admin-token","id":"n-1"}}`,
			`{"activity_id":99,"category_uid":6,"class_uid":6003,"type_uid":600399,"time":1795262400000,"severity_id":1,"status_id":0,"metadata":{"version":"1.9.0","product":{"name":"a2a-gateway","vendor_name":"a2a-gateway","uid":"gw"},"profiles":["security_control"],"log_name":"audit","sequence":9,"original_time":"2026-11-21T12:00:00Z"},"actor":{"user":{"uid":"admin-token"}},"api":{"operation":"push.drop"},"src_endpoint":{"name":"a2a-gateway"},"unmapped":{"v":1,"type":"event","attrs":{"who":"admin-token","id":"n-1"}}}`,
		},
	} {
		e, err := Of([]byte(tt.record))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parsed(t, tt.want), parsed(t, string(text))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	for _, bad := range []string{"", "x", "[]", `{}`, `{"type":"call"}`, `{"type":"call","time":"yesterday"}`, `{"type":7,"time":"2026-11-21T12:00:00Z"}`} {
		if _, err := Of([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a record", bad)
		}
	}
}

func parsed(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzOf: whatever a record holds stands in the event.
func FuzzOf(f *testing.F) {
	f.Add(`{"type":"call","time":"2026-11-21T12:00:00Z","principal":"canary","agent":"canary"}`)
	f.Add(`{"type":"event","time":"2026-11-21T12:00:00Z","attrs":{"x":"canary"}}`)
	f.Add(`{"type":"x","time":"2026-11-21T12:00:00Z","groups":["canary",1],"status":1e9}`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := Of([]byte(line))
		if err != nil {
			return
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `:"canary"`) && !strings.Contains(string(text), "canary") {
			t.Errorf("%s became %s", line, text)
		}
	})
}
