package approvals

import (
	"context"
	"net/http"
	"reflect"
	"sort"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Approvals are the calls that wait, and those who decide about them.
type Approvals interface {
	// List has the calls that wait or are on their way, the oldest first.
	List(ctx context.Context, who *api.Caller) ([]Approval, error)
	// Show is one that waits, or has waited; nil where there is none. Its message is for those who may
	// agree to it.
	Show(ctx context.Context, id string, who *api.Caller) (*ApprovalDetail, error)
	// Approve and Reject have somebody decide who was shown the digest. Their errors are *api.Refusal
	// where they are the asker's to mend.
	Approve(ctx context.Context, id, digest string, who *api.Caller) (*ApprovalDetail, error)
	Reject(ctx context.Context, id, digest, reason string, who *api.Caller) (*ApprovalDetail, error)
}

var (
	noApproval = api.Code{Name: "NO_SUCH_APPROVAL", Status: http.StatusNotFound}
	decided    = api.Code{Name: "APPROVAL_DECIDED", Status: http.StatusConflict}
	otherCall  = api.Code{Name: "APPROVAL_DIGEST", Status: http.StatusConflict}
)

// NotApprover is the code of who may not decide about a call.
var NotApprover = api.Code{Name: "NOT_AN_APPROVER", Status: http.StatusForbidden}

// Codes are those of decisions that cannot be made.
func Codes() []api.Code { return []api.Code{noApproval, decided, otherCall, NotApprover} }

// ApprovalPage is the answer of GET /api/v1/approvals.
type ApprovalPage struct {
	Approvals []Approval `json:"approvals"`
	Next      string     `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// Approval is a call that waits for approval, or has waited.
type Approval struct {
	ID      string         `json:"id" doc:"id of the task that the caller is shown"`
	State   string         `json:"state" doc:"waiting, approved, sending, sent, failed, lost, rejected, canceled, expired or void"`
	Agent   string         `json:"agent"`
	Skill   string         `json:"skill,omitzero"`
	Method  string         `json:"method"`
	Caller  string         `json:"caller" doc:"subject of the caller"`
	Issuer  string         `json:"issuer" doc:"issuer of the caller"`
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires" doc:"time until which people may agree"`
	Digest  string         `json:"digest" doc:"SHA-256 of the call's params; whoever decides has to send it"`
	Rules   []ApprovalRule `json:"rules" doc:"rules with effect approve that the call matches"`
	May     bool           `json:"may" doc:"you may decide about the call"`
	MayNot  string         `json:"mayNot,omitzero" doc:"reason why you may not"`
}

// ApprovalRule is one that asks for people.
type ApprovalRule struct {
	Name   string `json:"name"`
	Asks   string `json:"asks" doc:"who has to agree, in words"`
	Count  int    `json:"count" doc:"how many have to agree"`
	Agreed int    `json:"agreed" doc:"how many have agreed"`
}

// ApprovalDetail is the answer of GET /api/v1/approvals/{id}.
type ApprovalDetail struct {
	Approval

	Client  string          `json:"client,omitzero" doc:"OAuth client of the caller"`
	Tenant  string          `json:"tenant,omitzero" doc:"tenant of the caller"`
	Binding string          `json:"binding"`
	Version string          `json:"version" doc:"version of A2A that the caller speaks"`
	Context string          `json:"context" doc:"context of the task"`
	About   ApprovalAbout   `json:"about" doc:"what the agent's card says of the skill"`
	Votes   []ApprovalVote  `json:"votes" doc:"people and agents who have agreed"`
	Agents  []ApprovalAgent `json:"agents,omitzero" doc:"agents that are asked about the call"`
	Params  jsontext.Value  `json:"params,omitzero" doc:"params of the call, with its message; for those who may agree to it, and for operators if admin.content is true"`
	Decided time.Time       `json:"decided,omitzero" doc:"time of the latest change"`
	By      string          `json:"by,omitzero" doc:"who has rejected or canceled the call"`
	Why     string          `json:"why,omitzero" doc:"reason of the state"`
	Task    string          `json:"task,omitzero" doc:"the agent's id of the task, once the call was sent"`
}

// ApprovalAbout is what the card says of an agent and its skill.
type ApprovalAbout struct {
	Agent       string `json:"agent,omitzero" doc:"name of the agent"`
	Skill       string `json:"skill,omitzero" doc:"name of the skill"`
	Description string `json:"description,omitzero"`
}

// ApprovalAgent is an agent that is asked, and what it says.
type ApprovalAgent struct {
	Agent    string    `json:"agent" doc:"id of the agent"`
	Decides  bool      `json:"decides" doc:"a rule counts its decision; else its answer is advice"`
	Decision string    `json:"decision,omitzero" doc:"approve, reject or abstain; empty until the agent has answered"`
	Reason   string    `json:"reason,omitzero" doc:"the agent's reason; for those who may see the message"`
	Why      string    `json:"why,omitzero" doc:"reason why nothing that the agent has said counts"`
	At       time.Time `json:"at,omitzero" doc:"time of the answer; of the question until there is one"`
	Task     string    `json:"task,omitzero" doc:"the agent's task that works on the answer"`
}

// ApprovalVote is that somebody has agreed.
type ApprovalVote struct {
	By     string    `json:"by" doc:"of an agent, its id behind agent:"`
	Method string    `json:"method" doc:"how they had signed in: token, oidc or session; agent for an agent"`
	At     time.Time `json:"at"`
	Rules  []string  `json:"rules" doc:"rules for which it counts"`
}

// screen answers about approvals.
type screen struct{ all Approvals }

// Screen is that of the list of approvals.
func Screen(all Approvals) api.Screen {
	s := &screen{all}
	return api.Screen{
		Title: "Approvals", Page: "/approvals", Link: true,
		Shows: "calls that wait for approval, or were approved and are on their way to the agent: agent, skill, caller, rule, who has to agree, and until when; search, and a filter for those that you may decide about",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/approvals", ID: "list-approvals", Tag: "approvals", Role: api.Viewer,
			Summary: "List calls that wait for approval", Pages: true, Out: reflect.TypeFor[ApprovalPage](), Answer: s.list,
		}},
	}
}

func (s *screen) list(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list, err := s.all.List(c.Context(), &c.Caller)
	if err != nil {
		return nil, err
	}
	sort.Slice(list, func(i, k int) bool { return key(&list[i]) < key(&list[k]) })
	list = list[sort.Search(len(list), func(i int) bool { return key(&list[i]) > after }):]
	page := ApprovalPage{Approvals: append([]Approval{}, list[:min(limit, len(list))]...)}
	if len(list) > limit {
		page.Next = c.Cursor(key(&list[limit-1]))
	}
	return page, nil
}

// key orders a list by time, and what is of one time by its id.
func key(a *Approval) string { return a.Created.UTC().Format("20060102T150405.000000000") + a.ID }
