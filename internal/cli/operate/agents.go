// Package operate has the verbs for operators of a running gateway: status, agents, streams, approvals, push, admin
// and healthcheck.
//
// status, agents, streams, approvals and push ask its admin API with a token (internal/cli/adminapi). healthcheck asks the
// status listener, which wants none. admin token asks nobody: it makes a token, which the
// configuration then has the digest of. The exit codes are 0 for done, 1 where the gateway does
// not answer or refuses, and 2 for wrong flags.
package operate

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// AgentsCommand is `a2a-gateway agents`, which internal/cli mounts.
func AgentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List, show, register and remove agents of a running gateway",
		Long: "List the agents of a running gateway. If its configuration has fleet.api, also register and remove\n" +
			"agents that are in no file. The command calls the admin API at admin.address of the configuration,\n" +
			"with admin.token or the token in the data directory.",
	}
	a := adminapi.Target{}
	a.Flags(cmd.PersistentFlags())
	cmd.AddCommand(agentsList(&a), agentsShow(&a), agentsAdd(&a), agentsRemove(&a))
	return cmd
}

// agentsPath is the collection of agents in the admin API; an agent is at /api/v1/agents/{id}.
const agentsPath = "/api/v1/agents"

// agentsList is `agents list`. It reads all pages before it prints, as the columns of a table
// depend on all rows; a fleet has thousands of agents and not millions. JSON has the same members
// as the API, in one page.
//
// The text is a table. SERVED is false for an agent whose card could not be fetched or waits for
// approval, and FAILURE says which:
//
//	ID       FROM  SERVED  FAILURE
//	billing  file  true    -
//	travel   api   false   fetch the card: connection refused
func agentsList(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all agents", Args: arguments.None}
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		// Agents is not nil, so that an empty fleet is [] and not null in JSON.
		all := fleet.AgentPage{Agents: []fleet.Agent{}}
		for cursor := ""; ; {
			var page fleet.AgentPage
			if err := api.Do(http.MethodGet, adminapi.PagePath(agentsPath, cursor), &page); err != nil {
				return err
			}
			all.Agents = append(all.Agents, page.Agents...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		return verb.Show(cmd.OutOrStdout(), *output, all, func(w io.Writer) {
			t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			_, _ = fmt.Fprintln(t, "ID\tFROM\tSERVED\tFAILURE")
			for i := range all.Agents {
				one := &all.Agents[i]
				_, _ = fmt.Fprintf(t, "%s\t%s\t%v\t%s\n", verb.Cell(one.ID), verb.Cell(one.Origin), one.Served, verb.Cell(one.Failure))
			}
			_ = t.Flush()
		})
	}
	return cmd
}

// agentsShow is `agents show ID`: GET /api/v1/agents/{id}, always as JSON, since the entry has the
// shape that `agents add` takes. Secrets are not in it, so that it cannot be added again as it is.
func agentsShow(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an agent's entry as JSON, without secrets",
		Args:  arguments.Count(1, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return oneAgent(a, cmd, func(api *adminapi.Client, into *fleet.Agent) error {
			return meant(api, args[0], api.Do(http.MethodGet, agentsPath+"/"+url.PathEscape(args[0]), into))
		})
	}
	return cmd
}

// meant adds to the error about an agent that is not there the one that may have been meant.
func meant(api *adminapi.Client, id string, err error) error {
	if err == nil || !strings.HasSuffix(err.Error(), "no such agent") {
		return err
	}
	var page fleet.AgentPage
	// The first page has to do: a hint is not worth a fleet's worth of pages.
	if api.Do(http.MethodGet, adminapi.PagePath(agentsPath, ""), &page) != nil {
		return err
	}
	var ids []string
	for i := range page.Agents {
		ids = append(ids, page.Agents[i].ID)
	}
	if hint := spelling.Hint(id, ids); hint != "" {
		return verb.Failed(fmt.Errorf("%w%s", err, hint))
	}
	return err
}

// oneAgent asks for one agent, by whichever call, and prints what the gateway answers.
func oneAgent(a *adminapi.Target, cmd *cobra.Command, ask func(*adminapi.Client, *fleet.Agent) error) error {
	api, err := a.Connect(cmd.Context())
	if err != nil {
		return err
	}
	var one fleet.Agent
	if err := ask(api, &one); err != nil {
		return err
	}
	return verb.Show(cmd.OutOrStdout(), "json", one, nil)
}

// agentsAdd is `agents add FILE`: POST /api/v1/agents, or with --replace PUT /api/v1/agents/{id}.
// An id that is taken is refused without --replace, and the gateway checks the entry as it checks
// its configuration. Only the id is read here, for the path; the bytes of the file are sent as
// they are.
//
// Files and ${NAME} have no meaning in the entry: they would be the gateway's files and
// environment, which whoever may register agents need not be allowed to read.
func agentsAdd(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add FILE",
		Short: "Register an agent",
		Long: "Register an agent from a JSON file; - is the standard input. The file has the keys of an entry of\n" +
			"agents: in the configuration. It cannot refer to other files, and the gateway does not expand ${NAME}.",
		Args: arguments.Count(1, 1),
	}
	replace := cmd.Flags().Bool("replace", false, "replace an agent with the same id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		doc, err := readArgument(cmd, args[0])
		if err != nil {
			return verb.Usage(err)
		}
		var named struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(doc, &named); err != nil {
			return verb.Usage(fmt.Errorf("%s holds no agent as a JSON object", args[0]))
		}
		// A PUT names the agent in its path, and the gateway refuses one whose entry has another
		// id.
		method, path := http.MethodPost, agentsPath
		if *replace {
			method, path = http.MethodPut, agentsPath+"/"+url.PathEscape(named.ID)
		}
		return oneAgent(a, cmd, func(api *adminapi.Client, into *fleet.Agent) error { return api.Send(method, path, doc, into) })
	}
	return cmd
}

// readArgument reads the file that an argument names, or for - the standard input.
func readArgument(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(cmd.InOrStdin(), adminapi.LongestReply))
	}
	return os.ReadFile(name) //nolint:gosec // a path of the command line
}

// agentsRemove is `agents remove ID`: DELETE /api/v1/agents/{id}. Agents of the configuration file
// stay: the gateway refuses to remove them, as the next reload would bring them back.
func agentsRemove(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "Remove a registered agent",
		Args:  arguments.Count(1, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		if err := api.Do(http.MethodDelete, agentsPath+"/"+url.PathEscape(args[0]), nil); err != nil {
			return meant(api, args[0], err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", args[0])
		return err
	}
	return cmd
}
