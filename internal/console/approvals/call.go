package approvals

import (
	"context"
	"net/http"
	"reflect"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// decision is the body of the operations that decide.
type decision struct {
	Digest string `json:"digest" doc:"digest of the call that you were shown"`
	Reason string `json:"reason,omitzero" doc:"of a rejection: text for the caller"`
}

// longestReason bounds what a caller is told.
const longestReason = 500

// CallScreen is that of one approval. Addresses of notifications lead to it.
func CallScreen(all Approvals) api.Screen {
	s := &screen{all}
	errs := append(Codes(), api.Malformed)
	return api.Screen{
		Title: "an approval", Page: "/approvals/$id",
		Shows: "a call that waits for approval, or has waited: its state and the reason for it, caller, rules, who has agreed, what agents that are asked say, and what the card says of the skill; its texts, data and files, for those who may agree to it, and for operators if `admin.content` permits it; approve and reject it; links to the task",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/approvals/{id}", ID: "get-approval", Tag: "approvals", Role: api.Viewer,
				Summary: "Show a call that waits for approval, or has waited", Out: reflect.TypeFor[ApprovalDetail](), Errors: []api.Code{noApproval}, Answer: s.show,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/approvals/{id}/approve", ID: "approve-call", Tag: "approvals", Role: api.Viewer, Writes: true,
				Summary: "Agree to a call as one of its approvers", In: reflect.TypeFor[decision](), Out: reflect.TypeFor[ApprovalDetail](), Errors: errs, Answer: s.approve,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/approvals/{id}/reject", ID: "reject-call", Tag: "approvals", Role: api.Viewer, Writes: true,
				Summary: "Reject a call as one of its approvers", In: reflect.TypeFor[decision](), Out: reflect.TypeFor[ApprovalDetail](), Errors: errs, Answer: s.reject,
			},
		},
	}
}

func (s *screen) show(c *api.Call) (any, error) {
	d, err := s.all.Show(c.Context(), c.PathValue("id"), &c.Caller)
	if err == nil && d == nil {
		err = missing()
	}
	return d, err
}

func missing() error { return noApproval.Refuse("there is no such call") }

func (s *screen) approve(c *api.Call) (any, error) {
	return s.decide(c, "approval.approve", false, func(ctx context.Context, d *decision) (*ApprovalDetail, error) {
		return s.all.Approve(ctx, c.PathValue("id"), d.Digest, &c.Caller)
	})
}

func (s *screen) reject(c *api.Call) (any, error) {
	return s.decide(c, "approval.reject", true, func(ctx context.Context, d *decision) (*ApprovalDetail, error) {
		return s.all.Reject(ctx, c.PathValue("id"), d.Digest, d.Reason, &c.Caller)
	})
}

// decide has somebody decide, on record: who they are, how they had signed in, and what they were shown. What
// they may not do is on record as refused.
func (s *screen) decide(c *api.Call, kind string, rejects bool, do func(context.Context, *decision) (*ApprovalDetail, error)) (any, error) {
	var d decision
	if err := c.Decode(&d, api.Malformed); err != nil {
		return nil, err
	}
	if len(d.Reason) > longestReason {
		return nil, api.Malformed.Refuse("the reason is longer than 500 bytes")
	}
	shown, err := s.all.Show(c.Context(), c.PathValue("id"), &c.Caller)
	switch {
	case err != nil:
		return nil, err
	case shown == nil:
		return nil, missing()
	case shown.Digest != d.Digest:
		return nil, otherCall.Refuse("the digest is not that of the call: send the one that you were shown")
	case shown.State == string(standing.Waiting) && !shown.May:
		return nil, NotApprover.Refuse("you may not decide about this call: " + shown.MayNot)
	}
	attrs := shown.attrs()
	attrs["signed_in"] = c.Caller.Method
	if rejects && d.Reason != "" {
		attrs["why"] = d.Reason
	}
	var out *ApprovalDetail
	err = c.Change(kind, attrs, missing(), func(ctx context.Context) (bool, error) {
		var err error
		out, err = do(ctx, &d)
		return err == nil, err
	})
	return out, err
}

// attrs are what the audit log says of a call.
func (d *ApprovalDetail) attrs() map[string]string {
	c := approvals.Call{
		ID: d.ID, Agent: d.Agent, Skill: d.Skill, Method: d.Method, Digest: d.Digest, Caller: approvals.Caller{Subject: d.Caller, Issuer: d.Issuer},
	}
	for _, r := range d.Rules {
		c.Rules = append(c.Rules, approvals.Rule{Name: r.Name})
	}
	return c.Attributes()
}
