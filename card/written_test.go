package card

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url, binding, version, tenant string
		want                          Interface // without a binding where it is refused
		says                          string
	}{
		{"http://a.example/rpc", "JSONRPC", "1.0", "", Interface{"http://a.example/rpc", wire.JSONRPC, wire.V10, ""}, ""},
		{"https://a.example/rpc?k=v", "jsonrpc", "1.0.1", "t", Interface{"https://a.example/rpc?k=v", wire.JSONRPC, wire.V10, "t"}, ""},
		{"http://a.example", "HTTP+JSON", "0.2.6", "", Interface{"http://a.example", wire.HTTPJSON, wire.V03, ""}, ""},
		{"http://a.example", "JSONRPC", "0.1", "", Interface{"http://a.example", wire.JSONRPC, wire.V01, ""}, ""},
		{"a.example:50051", "GRPC", "1.0", "", Interface{"https://a.example:50051", wire.GRPC, wire.V10, ""}, ""},
		{"grpc://A.example:50051/", "GRPC", "0.3", "", Interface{"http://a.example:50051", wire.GRPC, wire.V03, ""}, ""},
		{"http://a.example", "JSON-RPC", "1.0", "", Interface{}, `interfaces[0].binding: "JSON-RPC" is not JSONRPC, HTTP+JSON or GRPC`},
		{"http://a.example", "", "1.0", "", Interface{}, `interfaces[0].binding: "" is not JSONRPC, HTTP+JSON or GRPC`},
		{"http://a.example", "JSONRPC", "", "", Interface{}, `interfaces[0].version: "" is not 0.1, 0.2, 0.3 or 1.0`},
		{"http://a.example", "JSONRPC", "2.0", "", Interface{}, `interfaces[0].version: "2.0" is not 0.1, 0.2, 0.3 or 1.0`},
		{"http://a.example", "GRPC", "0.1", "", Interface{}, "interfaces[0].binding: A2A 0.1 has JSONRPC alone"},
		{"http://a.example", "JSONRPC", "0.3", "t", Interface{}, "interfaces[0].tenant: A2A has tenants from 1.0 on"},
		{"", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: not an absolute http or https URL"},
		{"", "GRPC", "1.0", "", Interface{}, "interfaces[0].url: not an absolute http or https URL"},
		{"/rpc", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: not an absolute http or https URL"},
		{"ftp://a.example", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: not an absolute http or https URL"},
		{"http://user:CANARY/x@a.example", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: not an absolute http or https URL"},
		{"http://CANARY@a.example", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: must have neither a user name, a password nor a fragment"},
		{"http://a.example#x", "JSONRPC", "1.0", "", Interface{}, "interfaces[0].url: must have neither a user name, a password nor a fragment"},
		{"http://a.example/x", "GRPC", "1.0", "", Interface{}, "interfaces[0].url: gRPC has neither path nor query"},
	} {
		got, err := Written([]InterfaceConfig{{URL: secret.URL(tt.url), Binding: tt.binding, Version: tt.version, Tenant: tt.tenant}})
		switch {
		case tt.says != "" && (err == nil || err.Error() != tt.says):
			t.Errorf("%+v: %v", tt, err)
		case tt.says == "" && (err != nil || !slices.Equal(got, []Interface{tt.want})):
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
	twice := InterfaceConfig{URL: "http://a.example", Binding: "JSONRPC", Version: "0.3"}
	if _, err := Written([]InterfaceConfig{twice, twice}); err == nil || !strings.Contains(err.Error(), "interfaces[1]: is there twice") {
		t.Errorf("twice: %v", err)
	}
	if got, err := Written(nil); got != nil || err != nil {
		t.Errorf("none became %v, %v", got, err)
	}
}
