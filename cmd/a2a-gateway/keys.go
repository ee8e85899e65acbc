package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

func keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: "Create, list and revoke API keys. The file holds hashes only, and a running gateway picks\n" +
			"up every change of it without a restart.",
	}
	file := cmd.PersistentFlags().String("file", "keys.yaml", "key `file`, as in authn.apiKeys.file")
	output := cmd.PersistentFlags().StringP("output", "o", "text", "`format`: text or json")
	cmd.AddCommand(keysCreate(file, output), keysList(file, output), keysRevoke(file))
	return cmd
}

func keysCreate(file, output *string) *cobra.Command {
	var spec authn.KeySpec
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key and print it, once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := authn.OpenKeys(*file)
			if err != nil {
				return usage(err)
			}
			if ttl > 0 {
				spec.Expires = time.Now().Add(ttl).UTC()
			}
			if err := unused(keys, *file, spec.ID); err != nil {
				return usage(err)
			}
			id, key, err := keys.Create(spec)
			if err != nil {
				return usage(err)
			}
			return show(cmd.OutOrStdout(), *output, map[string]string{"id": id, "key": key}, func(w io.Writer) {
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
	f.DurationVar(&ttl, "ttl", 0, "lifetime, as in 720h; none means until revoked")
	return cmd
}

// unused says that a name is taken in words of the command line. Create refuses
// it as well, as a file that would not load.
func unused(keys *authn.Keys, file, id string) error {
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

// listed is a key as `keys list` shows it: everything but what would let
// somebody use it.
type listed struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Groups  []string  `json:"groups,omitempty"`
	Scopes  []string  `json:"scopes,omitempty"`
	Agents  []string  `json:"agents,omitempty"`
	Tenant  string    `json:"tenant,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

func keysList(file, output *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the keys",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := authn.OpenKeys(*file)
			if err != nil {
				return usage(err)
			}
			entries, err := keys.List()
			if err != nil {
				return usage(err)
			}
			all := make([]listed, 0, len(entries))
			for _, k := range entries {
				all = append(all, listed{
					ID: k.ID, Subject: k.Subject, Groups: k.Groups, Scopes: k.Scopes, Agents: k.Agents,
					Tenant: k.Tenant, Created: k.Created, Expires: k.Expires,
				})
			}
			return show(cmd.OutOrStdout(), *output, all, func(w io.Writer) { table(w, all) })
		},
	}
}

func table(w io.Writer, all []listed) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tSUBJECT\tGROUPS\tSCOPES\tAGENTS\tEXPIRES")
	for _, k := range all {
		expires := "never"
		if !k.Expires.IsZero() {
			expires = k.Expires.Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Subject,
			strings.Join(k.Groups, ","), strings.Join(k.Scopes, ","), strings.Join(k.Agents, ","), expires)
	}
	_ = t.Flush()
}

func keysRevoke(file *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := authn.OpenKeys(*file)
			if err != nil {
				return usage(err)
			}
			err = keys.Revoke(args[0])
			if errors.Is(err, fs.ErrNotExist) {
				return failed(fmt.Errorf("%s holds no key %q", *file, args[0]))
			}
			if err != nil {
				return failed(err)
			}
			return nil
		},
	}
	return cmd
}

var errOutput = errors.New("--output must be text or json")

// show writes v as JSON, or as text by the given function.
func show(w io.Writer, format string, v any, text func(io.Writer)) error {
	switch format {
	case "text":
		text(w)
		return nil
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	return usage(errOutput)
}
