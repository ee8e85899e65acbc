// Package keyscmd has the verbs of API keys: create, list, rotate and revoke.
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
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Command is the command that internal/cli mounts.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list, rotate and revoke API keys",
		Long: "Create, list, rotate and revoke API keys. The file holds hashes only, and a running gateway picks\n" +
			"up every change of it without a restart.",
	}
	file := cmd.PersistentFlags().String("file", "keys.yaml", "key `file`, as in authn.apiKeys.file")
	output := cmd.PersistentFlags().StringP("output", "o", "text", "`format`: text or json")
	cmd.AddCommand(keysCreate(file, output), keysList(file, output), keysRotate(file, output),
		keysRevoke(file))
	return cmd
}

func keysCreate(file, output *string) *cobra.Command {
	var spec apikey.Spec
	var ttl secret.Duration
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key and print it, once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := apikey.Open(*file)
			if err != nil {
				return verb.Usage(err)
			}
			if !slices.Contains(verb.Formats, *output) {
				return verb.Usage(verb.ErrOutput) // before there is a key that nobody would see
			}
			if ttl > 0 {
				spec.Expires = time.Now().Add(ttl.Std()).UTC()
			}
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
	f.StringSliceVar(&spec.Agents, "agent", nil, "`agent` the key is bound to; repeatable, none means any")
	f.StringVar(&spec.Tenant, "tenant", "", "`tenant` of the caller")
	f.StringVar(&spec.Owner, "owner", "", "person or `team` who answers for the key")
	verb.DurationVar(f, &ttl, "ttl", 0, "`lifetime`, as in 30d; none means until revoked")
	return cmd
}

// Unused says that a name is taken in words of the command line. Create refuses
// it as well, as a file that would not load.
func Unused(keys *apikey.File, file, id string) error {
	all, err := keys.List()
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.ID == id {
			return fmt.Errorf("%s holds a key %q already: revoke it first, or choose another --id", file, id)
		}
	}
	return nil
}

func keysRotate(file, output *string) *cobra.Command {
	var overlap secret.Duration
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Replace a key by a new one for the same caller, and print it, once",
		Long: "Replace a key by a new one with the same subject, groups, scopes, agents, tenant and owner.\n" +
			"The old one is accepted for --overlap longer, but not longer than before.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := apikey.Open(*file)
			if err != nil {
				return verb.Usage(err)
			}
			if !slices.Contains(verb.Formats, *output) {
				return verb.Usage(verb.ErrOutput) // before there is a key that nobody would see
			}
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
	verb.DurationVar(cmd.Flags(), &overlap, "overlap", 24*time.Hour, "`time` for which the old key is accepted still, as in 7d")
	return cmd
}
