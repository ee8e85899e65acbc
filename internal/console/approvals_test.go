package console

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
)

// tray has one call that waits, of which everybody may decide but the token of viewers.
type tray struct {
	state string
	world *world
}

func (t *tray) detail(who *api.Caller) *approvals.ApprovalDetail {
	d := &approvals.ApprovalDetail{Approval: approvals.Approval{
		ID: "approval-1", State: t.state, Agent: "billing", Skill: "refund", Method: "SendMessage", Caller: "alice", Issuer: "api-keys", Digest: "d1",
		Rules: []approvals.ApprovalRule{{Name: "refunds", Asks: "one of admin-token", Count: 1}}, May: who.Role != api.Viewer,
	}}
	if !d.May {
		d.MayNot = "you are none of approvers.subjects"
	}
	if d.Votes = []approvals.ApprovalVote{}; d.May {
		d.Params = []byte(`{"message":{}}`)
	}
	return d
}

func (t *tray) List(_ context.Context, who *api.Caller) ([]approvals.Approval, error) {
	if t.world.away != nil {
		return nil, t.world.away
	}
	return []approvals.Approval{t.detail(who).Approval}, nil
}

func (t *tray) Show(_ context.Context, id string, who *api.Caller) (*approvals.ApprovalDetail, error) {
	if id != "approval-1" || t.world.away != nil {
		return nil, t.world.away
	}
	return t.detail(who), nil
}

func (t *tray) Approve(_ context.Context, _, _ string, who *api.Caller) (*approvals.ApprovalDetail, error) {
	t.state = "approved"
	return t.detail(who), t.world.away
}

func (t *tray) Reject(_ context.Context, _, _, reason string, who *api.Caller) (*approvals.ApprovalDetail, error) {
	t.state = "rejected: " + reason
	return t.detail(who), t.world.away
}

// TestApprovals: who decides sends the digest of what they were shown, and is on record before it counts.
func TestApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.ask("GET", "/api/v1/approvals", nil); got.status != http.StatusOK || !strings.Contains(got.body, `"id":"approval-1","state":"waiting"`) {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/approvals/approval-2", nil); got.status != http.StatusNotFound || !strings.Contains(got.body, "NO_SUCH_APPROVAL") {
		t.Error(got)
	}
	for _, tc := range []struct {
		what, body string
		status     int
		want       string
	}{
		{"approve", `{"digest":"d2"}`, http.StatusConflict, "APPROVAL_DIGEST"},
		{"approve", `{"digets":"d1"}`, http.StatusBadRequest, "MALFORMED"},
		{"reject", `{"digest":"d1","reason":"` + strings.Repeat("x", 501) + `"}`, http.StatusBadRequest, "500 bytes"},
		{"approve", `{"digest":"d1"}`, http.StatusOK, `"state":"approved"`},
		{"reject", `{"digest":"d1","reason":"too much"}`, http.StatusOK, `"state":"rejected: too much"`},
	} {
		got := w.ask("POST", "/api/v1/approvals/approval-1/"+tc.what, func(r *http.Request) { send(r, tc.body) })
		if got.status != tc.status || !strings.Contains(got.body, tc.want) {
			t.Errorf("%s %s: %v", tc.what, tc.body, got)
		}
	}
	events := w.recorded()
	if len(events) != 2 || events[0]["event"] != "approval.approve" || events[0]["rules"] != "refunds" || events[0]["digest"] != "d1" ||
		events[1]["event"] != "approval.reject" || events[1]["why"] != "too much" {
		t.Errorf("on record: %v", events)
	}
}

// TestApprovalsRefused: who may not decide is refused, on record, and the call stays as it is.
func TestApprovalsRefused(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"approve", "reject"} {
		w := newWorld(t, func(c *Config) { everyRole(c) })
		got := w.ask("POST", "/api/v1/approvals/approval-1/"+what, func(r *http.Request) {
			send(r, `{"digest":"d1"}`)
			r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer))
		})
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "you may not decide about this call: you are none of approvers.subjects") {
			t.Errorf("%s: %v", what, got)
		}
		if events := w.recorded(); len(events) != 1 || events[0]["event"] != "admin.refused" || events[0]["why"] != "NOT_AN_APPROVER" || events[0]["id"] != "approval-1" {
			t.Errorf("on record: %v", events)
		}
	}
}
