package operate

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
)

// approvalsPath is the collection of calls that wait in the admin API; one is at /api/v1/approvals/{id}.
const approvalsPath = "/api/v1/approvals"

// ApprovalsCommand is `a2a-gateway approvals`, which internal/cli mounts.
func ApprovalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List, show, approve and reject calls that wait for approval",
		Long: "List, show, approve and reject calls that wait for approval, because a rule with effect approve\n" +
			"matches them. The command calls the admin API at admin.address of the configuration, with\n" +
			"admin.token or the token in the data directory. Whoever decides has to be one of the rule's\n" +
			"approvers; the gateway records who decided.",
	}
	a := adminapi.Target{}
	a.Flags(cmd.PersistentFlags())
	cmd.AddCommand(approvalsList(&a), approvalsShow(&a), approvalsApprove(&a), approvalsReject(&a))
	return cmd
}

// approvalsList is `approvals list`, by GET /api/v1/approvals, page by page. JSON has the same members as
// the API, in one page.
func approvalsList(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List calls that wait for approval, the oldest first", Args: arguments.None}
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		all := approvals.ApprovalPage{Approvals: []approvals.Approval{}}
		for cursor := ""; ; {
			var page approvals.ApprovalPage
			if err := api.Do(http.MethodGet, adminapi.PagePath(approvalsPath, cursor), &page); err != nil {
				return err
			}
			all.Approvals = append(all.Approvals, page.Approvals...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		return verb.Show(cmd.OutOrStdout(), *output, all, func(w io.Writer) {
			t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			_, _ = fmt.Fprintln(t, "ID\tSTATE\tAGENT\tSKILL\tCALLER\tRULE\tAGREED\tUNTIL")
			for i := range all.Approvals {
				one := &all.Approvals[i]
				for _, r := range one.Rules {
					_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d of %d\t%s\n", verb.Cell(one.ID), verb.Cell(one.State), verb.Cell(one.Agent),
						verb.Cell(one.Skill), verb.Cell(one.Caller), verb.Cell(r.Name), r.Agreed, r.Count, one.Expires.UTC().Format(time.RFC3339))
				}
			}
			_ = t.Flush()
		})
	}
	return cmd
}

// approvalsShow is `approvals show ID`.
func approvalsShow(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a call that waits for approval, or has waited, with its message", Args: arguments.Count(1, 1)}
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		d, err := oneApproval(api, args[0])
		if err != nil {
			return err
		}
		return verb.Show(cmd.OutOrStdout(), *output, d, func(w io.Writer) { describe(w, d) })
	}
	return cmd
}

func oneApproval(api *adminapi.Client, id string) (*approvals.ApprovalDetail, error) {
	d := new(approvals.ApprovalDetail)
	return d, api.Do(http.MethodGet, approvalsPath+"/"+url.PathEscape(id), d)
}

// describe prints a call for people.
func describe(w io.Writer, d *approvals.ApprovalDetail) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", name, verb.Legible(value))
		}
	}
	line("state", d.State)
	line("reason", d.Why)
	line("agent", d.Agent)
	line("skill", d.Skill)
	line("card", d.About.Description)
	line("method", d.Method)
	line("caller", d.Caller+" of "+d.Issuer)
	line("client", d.Client)
	line("came", d.Created.UTC().Format(time.RFC3339))
	line("until", d.Expires.UTC().Format(time.RFC3339))
	for _, r := range d.Rules {
		line("rule", fmt.Sprintf("%s: %s, %d agreed", r.Name, r.Asks, r.Agreed))
	}
	for _, v := range d.Votes {
		line("agreed", fmt.Sprintf("%s (%s) at %s", v.By, v.Method, v.At.UTC().Format(time.RFC3339)))
	}
	for i := range d.Agents {
		line(adviceOf(&d.Agents[i]))
	}
	line("digest", d.Digest)
	line("you", d.MayNot)
	_ = t.Flush()
	if d.Params == nil {
		return
	}
	v := d.Params.Clone()
	_ = v.Indent(jsontext.WithIndent("  ")) // it is JSON
	_, _ = fmt.Fprintf(w, "\n%s\n", verb.Printable(string(v)))
}

// adviceOf is what an agent says that was asked, with the name of its line.
func adviceOf(a *approvals.ApprovalAgent) (name, text string) {
	if name = "advice"; a.Decides {
		name = "decision"
	}
	switch text = a.Agent + ": "; {
	case a.Decision == "":
		return name, text + "not answered yet"
	case a.Why != "":
		return name, text + a.Decision + ": " + a.Why
	case a.Reason != "":
		return name, text + a.Decision + ", " + strconv.Quote(a.Reason)
	}
	return name, text + a.Decision
}

// approvalsApprove is `approvals approve ID`. The digest that is sent is that of the call of this id, which
// never changes.
func approvalsApprove(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Agree to a call; it is sent once enough people have agreed",
		Args:  arguments.Count(1, 1),
	}
	digest := cmd.Flags().String("digest", "", "refuse unless this is the `digest` of the call, as show printed it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return decide(a, cmd, args[0], "approve", *digest, "")
	}
	return cmd
}

// approvalsReject is `approvals reject ID`.
func approvalsReject(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "reject ID", Short: "Reject a call", Args: arguments.Count(1, 1)}
	digest := cmd.Flags().String("digest", "", "refuse unless this is the `digest` of the call, as show printed it")
	reason := cmd.Flags().String("reason", "", "`text` that the caller is told")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return decide(a, cmd, args[0], "reject", *digest, *reason)
	}
	return cmd
}

// decide makes a decision about a call and prints where it stands then.
func decide(a *adminapi.Target, cmd *cobra.Command, id, what, digest, reason string) error {
	api, err := a.Connect(cmd.Context())
	if err != nil {
		return err
	}
	if digest == "" {
		d, err := oneApproval(api, id)
		if err != nil {
			return err
		}
		digest = d.Digest
	}
	doc := map[string]string{"digest": digest}
	if reason != "" {
		doc["reason"] = reason
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	d := new(approvals.ApprovalDetail)
	if err := api.Send(http.MethodPost, approvalsPath+"/"+url.PathEscape(id)+"/"+what, body, d); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", d.ID, d.State)
	return err
}
