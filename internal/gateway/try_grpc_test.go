package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestTryGRPC: over gRPC the call is made as its clients make it, with the agent as the tenant
// or by its host; messages are shown in JSON, header fields without the credential.
func TestTryGRPC(t *testing.T) {
	t.Parallel()
	for _, server := range []string{plain, "tls"} {
		s := newWorkshop(t, server, openPolicy)
		token := bearer(s.token("alice"))
		for _, agent := range []string{"modern", "older", "owned"} {
			for _, version := range []string{"1.0", "0.3"} {
				if version == "0.3" && agent != "owned" {
					continue // which names no agent
				}
				for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
					params := fmt.Sprintf(trialText10, "hello")
					if version == "0.3" {
						params = fmt.Sprintf(trialText03, "hello")
					}
					got := s.try(&trials.Attempt{
						Agent: agent, Version: version, Binding: "GRPC", Method: method, Params: []byte(params), Bearer: token,
						Extensions: []string{demo.CostCentre},
					})
					what := fmt.Sprint(server, agent, version, method)
					if got.Status != http.StatusOK || got.Ended != "complete" || got.Failure != "" || got.GRPC != "" || got.Request == "" || len(got.Pieces) == 0 {
						t.Errorf("%s: %+v", what, got)
						continue
					}
					for _, want := range []string{":method: POST\n", "authorization: Bearer [redacted]\n", "te: trailers\n", "content-type: application/grpc\n", "00000000  00 "} {
						if !strings.Contains(got.Sent, want) {
							t.Errorf("%s: sent without %q: %s", what, want, got.Sent)
						}
					}
					if strings.Contains(fmt.Sprint(*got), token) || !strings.HasPrefix(got.Received, ":status: 200\n") || !strings.Contains(got.Received, "grpc-status: 0\n") {
						t.Errorf("%s: received %s", what, got.Received)
					}
					if len(got.Forms) != 5 || len(got.Active) != 1 || !strings.HasPrefix(got.Pieces[0].Text, "{") {
						t.Errorf("%s: %d forms, %v, %s", what, len(got.Forms), got.Active, got.Pieces[0].Text)
					}
					for i, f := range got.Forms {
						if f.Caller != (i == 0) || f.Problem != "" || !strings.Contains(f.Body, "hello") || len(f.Answers) == 0 {
							t.Errorf("%s: %+v", what, f)
						}
					}
				}
			}
		}
	}
}

// TestTryGRPCRefused: what is refused over gRPC has its status and words; a skill can be named
// by the tenant, and not at a host of the agent's own.
func TestTryGRPCRefused(t *testing.T) {
	t.Parallel()
	s := newWorkshop(t, plain, openPolicy)
	a := trials.Attempt{Agent: "modern", Version: "1.0", Binding: "GRPC", Method: "SendMessage", Params: []byte(fmt.Sprintf(trialText10, "hello"))}
	if got := s.try(&a); !strings.HasPrefix(got.GRPC, "16 ") || got.Status != http.StatusOK || !strings.Contains(got.Received, "grpc-status: 16\n") {
		t.Errorf("without a credential: %d %q %s", got.Status, got.GRPC, got.Received)
	}
	a.Bearer = bearer(s.token("alice"))
	a.Skill = "summarize"
	if got := s.try(&a); got.GRPC != "" || !strings.Contains(got.Forms[0].Body, "modern/skills/summarize") {
		t.Errorf("with a skill: %q %+v", got.GRPC, got.Forms[0])
	}
	a.Agent = "owned"
	if status, body := s.post(&a); status != http.StatusBadRequest || !strings.Contains(body, "skill: over gRPC none can be named") {
		t.Error(status, body)
	}
}
