package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// completeAll says for every flag and argument of a command, and of those below, what a shell
// completes there. It goes by what the command line says of itself, so that a flag which is
// described has a completion too.
func completeAll(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if complete := completionOf(f); complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // there is such a flag, once
		}
	})
	// A command that only holds others has no arguments to complete.
	if cmd.ValidArgsFunction == nil && cmd.Runnable() {
		cmd.ValidArgsFunction = argumentsOf(cmd)
	}
	for _, sub := range cmd.Commands() {
		completeAll(sub)
	}
}

// addShells adds cobra's command for completions, which takes any word for a shell and prints help
// with exit code 0, and has that be an error: `source <(a2a-gateway completion zhs)` would else
// run the help.
func addShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		var shells []string
		for _, sub := range cmd.Commands() {
			shells = append(shells, sub.Name())
		}
		// cobra would refuse the word before RunE has a chance to say which shells there are.
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return verb.Usage(fmt.Errorf("completion: name a shell: %s", strings.Join(shells, ", ")))
			}
			return verb.Usage(fmt.Errorf("completion: there is none for %q, only for %s", args[0], strings.Join(shells, ", ")))
		}
	}
}

// argumentsOf is what completes the arguments that a command's usage line names; nil for files.
func argumentsOf(cmd *cobra.Command) cobra.CompletionFunc {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	agent := strings.HasPrefix(arguments, "AGENT") || arguments == "ID" && cmd.Parent().Name() == "agents"
	// `card diff A B` takes two cards, which its usage line does not call files.
	files := strings.Contains(arguments, "FILE") || strings.HasSuffix(arguments, " A B") // cards in files
	switch {
	case !agent && files:
		return nil
	case !agent:
		return cobra.NoFileCompletions
	}
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) > 0:
			return nil, cobra.ShellCompDirectiveNoFileComp
		case files:
			return agentIDs(cmd), cobra.ShellCompDirectiveDefault
		}
		return agentIDs(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}

// completionOf is what completes the value of a flag; nil for a file of any kind, which is what a
// shell does by itself. It goes by the flag's name, the word in backquotes of its usage, and the
// values that the usage lists.
func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	value, usage := pflag.UnquoteUsage(f)
	listed := listedValues(usage)
	switch {
	case f.Value.Type() == "bool":
		return nil
	case f.Name == "config":
		return cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	case value == "directory":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.Name == "agent":
		return configured(agentIDs)
	case f.Name == "skill", f.Name == "task-skill":
		return configured(skillIDs)
	case f.Name == "extension":
		return configured(extensionURIs)
	case len(listed) > 0:
		return cobra.FixedCompletions(listed, cobra.ShellCompDirectiveNoFileComp)
	case strings.Contains(value+usage, "file"):
		return nil
	default:
		return cobra.NoFileCompletions
	}
}

// oneOf matches a usage that ends in the values to choose from, as in "format: text or json".
var oneOf = regexp.MustCompile(`: ([\w+./-]+(?: \(default\))?(?:, [\w+./-]+)*,? or [\w+./-]+)(?:$|;| for )`)

// separator is what stands between values in such a usage.
var separator = regexp.MustCompile(`(?: \(default\))?(?:,? or |, )`)

// listedValues are the values that the usage of a flag names: text and json of "format: text or
// json".
func listedValues(usage string) []string {
	m := oneOf.FindStringSubmatch(usage)
	if m == nil {
		return nil
	}
	return separator.Split(m[1], -1)
}

// configured completes with what the configuration has, and with nothing where it cannot be read.
func configured(of func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return of(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}

// configurationOf is the configuration that a command line names, or the usual one; empty where it
// cannot be read, which a shell has no place to say. It is read whole, with its checks: a second
// is the most that it takes, and a configuration of a thousand agents is where completion is worth
// something.
func configurationOf(cmd *cobra.Command) *config.Config {
	path := verb.ConfigPath()
	if f := cmd.Flag("config"); f != nil && f.Value.String() != "" {
		path = f.Value.String()
	}
	cfg, err := config.Load(path)
	if err != nil {
		return &config.Config{}
	}
	return cfg
}

// agentIDs are the ids of agents in the configuration; agents that were registered with a running
// gateway are not among them, as a completion asks nobody.
func agentIDs(cmd *cobra.Command) []string { return configurationOf(cmd).AgentIDs() }

// skillIDs are those that the configuration names, of the agent that the command line names, or of
// all. Skills that only cards name are not known offline.
func skillIDs(cmd *cobra.Command) []string {
	var ids []string
	agent := cmd.Flag("agent")
	for _, a := range configurationOf(cmd).Agents {
		if agent != nil && agent.Changed && agent.Value.String() != a.ID {
			continue
		}
		for _, s := range a.Skills {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// extensionURIs are the extensions of the registry.
func extensionURIs(cmd *cobra.Command) []string {
	var uris []string
	for _, e := range configurationOf(cmd).Extensions {
		uris = append(uris, e.URI)
	}
	return uris
}
