//go:build !minimal

package pdp

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// FuzzMetadata: whatever metadata say, nobody is asked but the host that was configured,
// as the client that asks reads the endpoints.
func FuzzMetadata(f *testing.F) {
	const at = "https://pdp.test:8443/a"
	for _, seed := range []string{
		`{"policy_decision_point":"` + at + `","access_evaluation_endpoint":"https://pdp.test:8443/x"}`,
		`{"policy_decision_point":"` + at + `","access_evaluation_endpoint":"https://PDP.test:8443/x","access_evaluations_endpoint":"https://pdp.test/y"}`,
		`{"policy_decision_point":"` + at + `","access_evaluation_endpoint":"https://pdp.test:8443@evil.test/"}`,
		`{"policy_decision_point":"` + at + `","access_evaluation_endpoint":"https:pdp.test:8443"}`,
		`{"policy_decision_point":"` + at + `/"}`, `[]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	m := newMetadata(f.Context(), nil, at)
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := m.read(body)
		if err != nil {
			return
		}
		for _, endpoint := range []string{found.one, found.several} {
			if endpoint == "" && endpoint == found.several {
				continue
			}
			r, err := http.NewRequest(http.MethodPost, endpoint, nil)
			if err != nil || !strings.EqualFold(r.URL.Host, "pdp.test:8443") || r.URL.Scheme != "https" || r.URL.User != nil {
				t.Errorf("%q sends questions to %q (%v)", body, endpoint, err)
			}
		}
	})
}

// FuzzExtAuthz: of all messages that a service can answer with, those alone allow that
// have a status, which is OK, and no response that says otherwise.
func FuzzExtAuthz(f *testing.F) {
	for _, answer := range []*auth.CheckResponse{
		{},
		{Status: &rpcstatus.Status{}},
		{Status: &rpcstatus.Status{Code: 7, Message: "no\x00\n"}},
		{Status: &rpcstatus.Status{}, HttpResponse: &auth.CheckResponse_DeniedResponse{DeniedResponse: &auth.DeniedHttpResponse{}}},
		{Status: &rpcstatus.Status{}, HttpResponse: &auth.CheckResponse_ErrorResponse{}},
		{Status: &rpcstatus.Status{}, HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{HeadersToRemove: []string{"x"}}}},
	} {
		data, err := proto.Marshal(answer)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var answer auth.CheckResponse
		if proto.Unmarshal(data, &answer) != nil {
			return
		}
		e := &extAuthz{log: slog.New(slog.DiscardHandler)}
		v, err := e.read(&answer)
		_, ok := answer.GetHttpResponse().(*auth.CheckResponse_OkResponse)
		allows := answer.GetStatus() != nil && answer.GetStatus().GetCode() == 0 && (ok || answer.GetHttpResponse() == nil)
		if v.allow != allows || err != nil && v != (verdict{}) {
			t.Errorf("%v: %+v, %v", &answer, v, err)
		}
	})
}
