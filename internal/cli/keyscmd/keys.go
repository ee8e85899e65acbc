// Package keyscmd has the verbs of API keys: create, list, rotate and revoke.
//
// They work on the key file (authn.apiKeys.file) and need no gateway: a running one watches the
// file and counts a change within a second. Only revoke and list can do more than that, with
// --config: they read and write what gateways with a shared state (state.driver: redis) tell each
// other about revoked keys. The file is replaced as a whole, so that a gateway never reads half of
// it, and holds SHA-256 hashes; a key is printed when it is made and cannot be shown again.
//
// Exit 2 says that the file cannot be read or a flag is wrong, exit 1 that there is no such key or
// that the shared state could not be reached.
package keyscmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Command is `a2a-gateway keys`, which internal/cli mounts. --file and --output are for all verbs.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list, rotate and revoke API keys",
		Long: "Create, list, rotate and revoke API keys. The file holds only hashes. A running gateway applies\n" +
			"every change of the file without a restart.",
	}
	// Relative to the working directory, as every file of a command line; that of a configuration
	// is relative to the configuration.
	file := cmd.PersistentFlags().String("file", "keys.yaml", "key `file`, as in authn.apiKeys.file")
	output := cmd.PersistentFlags().StringP("output", "o", "text", "`format`: text or json")
	cmd.AddCommand(keysCreate(file, output), keysList(file, output), keysRotate(file, output),
		keysRevoke(file))
	return cmd
}

// keysCreate is `keys create`. Standard output has the key and nothing else, for KEY=$(…); JSON
// has its id too. Everything that could be refused is checked before the key is made. Without --id
// one is made up.
//
// What it cannot know is whether an agent or a group of its flags exists: the file stands beside
// the configuration and not in it. `validate` warns of agents that are not there.
func keysCreate(file, output *string) *cobra.Command {
	var spec apikey.Spec
	var ttl quantity.Duration
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key and print it once",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := apikey.Open(*file)
			if err != nil {
				return verb.Usage(err)
			}
			if !slices.Contains(verb.Formats, *output) {
				return verb.Usage(verb.ErrOutput) // before there is a key that nobody would see
			}
			// In UTC, as the file is read on machines of other zones.
			if ttl > 0 {
				spec.Expires = time.Now().Add(ttl.Std()).UTC()
			}
			// Asked for before the key is made, for an error in words of the command line.
			if err := Unused(keys, *file, spec.ID); err != nil {
				return verb.Usage(err)
			}
			id, key, err := keys.Create(spec)
			if err != nil {
				return verb.Usage(err)
			}
			return verb.Show(cmd.OutOrStdout(), *output, map[string]string{"id": id, "key": key}, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "%s\n", key)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&spec.ID, "id", "", "`name` of the key, and the caller's subject unless --subject is given")
	f.StringVar(&spec.Subject, "subject", "", "caller's `subject`")
	f.StringSliceVar(&spec.Groups, "group", nil, "`group` of the caller; repeatable")
	f.StringSliceVar(&spec.Scopes, "scope", nil, "`scope` of the caller; repeatable")
	f.StringSliceVar(&spec.Agents, "agent", nil, "`agent` that the key is valid for; repeatable, none means any")
	f.StringVar(&spec.Tenant, "tenant", "", "`tenant` of the caller")
	f.StringVar(&spec.Owner, "owner", "", "person or `team` responsible for the key")
	verb.DurationVar(f, &ttl, "ttl", 0, "`lifetime`, such as 30d; none means until revoked")
	return cmd
}

// Unused returns an error where the file holds a key of that id, in words of the command line, and
// the error of reading where it cannot be read. Create refuses a second key of an id as well, in
// words for a file that would not load.
func Unused(keys *apikey.File, file, id string) error {
	all, err := keys.List()
	if err != nil {
		return err
	}
	for _, k := range all {
		// Expired keys count too: records name callers by ids.
		if k.ID == id {
			return fmt.Errorf("%s holds a key %q already: revoke it first, or choose another --id", file, id)
		}
	}
	return nil
}

// keysRotate is `keys rotate ID`. Both keys are valid for --overlap (24 h), within which clients
// change over, and both name the same caller, so that rules and records go on as before. The old
// one ends when it would have ended anyhow, if that is sooner.
func keysRotate(file, output *string) *cobra.Command {
	var overlap quantity.Duration
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Replace a key by a new one for the same caller, and print it once",
		Long: "Replace a key by a new one with the same subject, groups, scopes, agents, tenant and owner.\n" +
			"The gateway accepts the old key for --overlap, but not beyond its own expiry.",
		Args: arguments.Count(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := openExisting(*file)
			if err != nil {
				return err
			}
			if !slices.Contains(verb.Formats, *output) {
				return verb.Usage(verb.ErrOutput) // before there is a key that nobody would see
			}
			// A key that is not there is exit code 1, as for revoke: the file is good, the id is
			// not.
			id, key, err := keys.Rotate(args[0], overlap.Std())
			if errors.Is(err, fs.ErrNotExist) {
				return verb.Failed(fmt.Errorf("%s holds no key %q", *file, args[0]))
			}
			if err != nil {
				return verb.Failed(err)
			}
			made := map[string]string{"id": id, "key": key, "replaces": args[0]}
			return verb.Show(cmd.OutOrStdout(), *output, made, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "%s\n", key)
			})
		},
	}
	verb.DurationVar(cmd.Flags(), &overlap, "overlap", 24*time.Hour, "`time` for which the gateway still accepts the old key, such as 7d")
	return cmd
}
