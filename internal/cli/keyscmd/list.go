package keyscmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
)

// revokedState is that of a key that was revoked for all gateways. Those that were
// revoked in the file are not there to be listed.
const revokedState = "revoked"

// listed is a key as `keys list` shows it: everything but what would let somebody use it. In JSON
// a member that says nothing is left out, so that "lastUsed" which is not there is not taken for
// "never": it is known only where the files of use were named and have the key.
type listed struct {
	ID         string     `json:"id"`
	Subject    string     `json:"subject"`
	Groups     []string   `json:"groups,omitempty"`
	Scopes     []string   `json:"scopes,omitempty"`
	Agents     *[]string  `json:"agents,omitempty"` // an empty list means none, no list any
	Tenant     string     `json:"tenant,omitempty"`
	Owner      string     `json:"owner,omitempty"`
	State      string     `json:"state"` // active, rotating, expired or revoked
	Created    time.Time  `json:"created,omitzero"`
	Expires    time.Time  `json:"expires,omitzero"`
	Revoked    time.Time  `json:"revoked,omitzero"` // for all gateways; only where their configuration was given
	ReplacedBy string     `json:"replacedBy,omitempty"`
	LastUsed   *time.Time `json:"lastUsed,omitempty"` // only where usage files were given
}

// keysList is `keys list`. It reads the key file and the files that it is given, and asks the
// shared state where --config names one; a gateway is not asked. --unused-for lists keys for which
// it is certain that nobody used them: where the files of use do not reach back that far it lists
// none, and says so on standard error, since the list is what somebody will revoke.
func keysList(file, output *string) *cobra.Command {
	var files []string
	var unusedFor quantity.Duration
	var path string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys",
		Long: "List the keys. Each gateway writes the last use of keys to its own file; pass the files of all\n" +
			"gateways with --usage. With --config, also show keys revoked for all gateways that share the\n" +
			"state of that configuration.",
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(verb.Formats, *output) {
				return verb.Usage(verb.ErrOutput)
			}
			if unusedFor > 0 && len(files) == 0 {
				return verb.Usage(errors.New("--unused-for needs --usage: the file in which a gateway keeps the use of keys"))
			}
			// Asked first, since it settles which key file is meant where --file does not say.
			revoked, err := revokedKeys(cmd, path, file)
			if err != nil {
				return err
			}
			open := openExisting
			if path != "" { // what was revoked for all gateways is worth a list without the file here
				open = apikey.Open
			}
			keys, err := open(*file)
			if err != nil {
				return verb.Usage(err)
			}
			specs, err := keys.List()
			if err != nil {
				return verb.Usage(err)
			}
			seen, err := readUsage(files)
			if err != nil {
				return verb.Usage(err)
			}
			now := time.Now()
			all := make([]listed, 0, len(specs))
			for i := range specs {
				if unusedFor == 0 || seen.unused(&specs[i], now.Add(-unusedFor.Std())) {
					all = append(all, list(&specs[i], seen, now))
				}
			}
			markRevoked(all, revoked)
			// Keys that the file does not hold may belong to another gateway's file. Of them
			// nothing is known but that they are revoked, so that --unused-for, which is about
			// keys to be revoked, leaves them out.
			if unusedFor == 0 {
				all = append(all, revokedElsewhere(specs, revoked)...)
			}
			if unusedFor > 0 && seen.Since.After(now.Add(-unusedFor.Std())) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "uses are known since %s only; of no key can it be said\n",
					seen.Since.Format(time.RFC3339))
			}
			return verb.Show(cmd.OutOrStdout(), *output, all, func(w io.Writer) { table(w, all, seen != nil) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&path, "config", "c", "", "configuration `file` of gateways that share revocations")
	f.StringArrayVar(&files, "usage", nil, "`file` to which a gateway writes the last use of keys; repeatable")
	verb.DurationVar(f, &unusedFor, "unused-for", 0, "only keys that nobody used for this `time`, such as 90d")
	return cmd
}

// revokedKeys are the keys that were revoked for all gateways of a configuration, with when; nil
// where no configuration is named or its state is not shared. That the state cannot be reached is
// an error and not an empty answer: a revoked key would be listed as active.
func revokedKeys(cmd *cobra.Command, path string, file *string) (map[string]time.Time, error) {
	if path == "" {
		return nil, nil
	}
	cfg, err := sharedConfig(cmd, path, file)
	if err != nil {
		return nil, verb.Usage(err)
	}
	revoked, err := revocation.RevokedKeys(cmd.Context(), cfg)
	// A configuration of one gateway is no mistake here: it has the key file.
	if errors.Is(err, revocation.ErrNotShared) {
		return nil, nil // nothing can be revoked but in the file
	}
	if err != nil {
		return nil, verb.Failed(err)
	}
	return revoked, nil
}

// markRevoked says of keys that they are revoked.
func markRevoked(all []listed, revoked map[string]time.Time) {
	for i := range all {
		if at, ok := revoked[all[i].ID]; ok {
			all[i].State, all[i].Revoked = revokedState, at
		}
	}
}

// revokedElsewhere are the revoked keys that the file here does not hold.
func revokedElsewhere(specs []apikey.Spec, revoked map[string]time.Time) (all []listed) {
	for _, id := range slices.Sorted(maps.Keys(revoked)) {
		if !slices.ContainsFunc(specs, func(k apikey.Spec) bool { return k.ID == id }) {
			all = append(all, listed{ID: id, State: revokedState, Revoked: revoked[id]})
		}
	}
	return all
}

// uses is what several gateways know together. Nil is nothing.
type uses apikey.Usage

// readUsage joins the files of several gateways: a key was last used where it was
// used latest, and is known to be unused only since all of them have looked.
func readUsage(files []string) (*uses, error) {
	var all *uses
	for _, name := range files {
		u, err := apikey.ReadUsage(name)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = &uses{Last: map[string]time.Time{}}
		}
		// The latest beginning counts: before it one of the gateways did not look.
		if u.Since.After(all.Since) {
			all.Since = u.Since
		}
		for id, at := range u.Last {
			if at.After(all.Last[id]) {
				all.Last[id] = at
			}
		}
	}
	return all, nil
}

// last is when a key was last used; zero where that is not known. What was noted before
// the key was made belongs to another one of that id.
func (u *uses) last(k *apikey.Spec) time.Time {
	if u == nil || u.Last[k.ID].Before(k.Created) {
		return time.Time{}
	}
	return u.Last[k.ID]
}

// unused reports whether a key that is older than the given time was certainly not
// used since.
func (u *uses) unused(k *apikey.Spec, since time.Time) bool {
	return !u.Since.After(since) && !k.Created.After(since) && !u.last(k).After(since)
}

// list is a key of the file as it is shown.
func list(k *apikey.Spec, seen *uses, now time.Time) listed {
	// All but the hash.
	l := listed{ID: k.ID, Subject: k.Subject, Groups: k.Groups, Scopes: k.Scopes, Tenant: k.Tenant,
		Owner: k.Owner, State: state(k, now), Created: k.Created, Expires: k.Expires, ReplacedBy: k.ReplacedBy}
	// Kept apart from an empty list by the pointer: no list is any agent, an empty one is none.
	if k.Agents != nil {
		l.Agents = &k.Agents
	}
	if at := seen.last(k); !at.IsZero() {
		l.LastUsed = &at
	}
	return l
}

// state is what becomes of a key by now: expired, rotating while its successor and it are both
// valid, or active. That it was revoked the file does not say: revoking takes it out.
func state(k *apikey.Spec, now time.Time) string {
	switch {
	// First, since an expired key is of no use whether it has a successor or not.
	case !k.Expires.IsZero() && !k.Expires.After(now):
		return "expired"
	case k.ReplacedBy != "":
		return "rotating"
	}
	return "active"
}

// table prints the keys for people; the column of the last use is there only where use is known.
//
// An example, with --usage:
//
//	ID  SUBJECT  GROUPS     SCOPES  AGENTS   OWNER  STATE   EXPIRES               LAST USED
//	ci  ci       pipelines          billing  ops    active  2027-01-01T00:00:00Z  2026-11-27T09:12:00Z
//
// Names are printed as they are: the key file is the operator's own, and refuses control
// characters.
func table(w io.Writer, all []listed, used bool) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	last := ""
	if used {
		last = "\tLAST USED"
	}
	_, _ = fmt.Fprintf(t, "ID\tSUBJECT\tGROUPS\tSCOPES\tAGENTS\tOWNER\tSTATE\tEXPIRES%s\n", last)
	for i := range all {
		k := &all[i]
		if used {
			last = "\t" + verb.Moment(k.LastUsed, "-")
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s%s\n", k.ID, k.Subject, strings.Join(k.Groups, ","),
			strings.Join(k.Scopes, ","), bound(k.Agents), k.Owner, k.State, expiry(k), last)
	}
	_ = t.Flush()
}

// bound is the agents a key is good for; nothing where it is any, as it always was.
func bound(agents *[]string) string {
	switch {
	case agents == nil:
		return ""
	case len(*agents) == 0:
		return "(none)"
	}
	return strings.Join(*agents, ",")
}

// expiry is when a key expires. Of one that the file does not hold that is not known.
func expiry(k *listed) string {
	if k.State == revokedState && k.Subject == "" {
		return "-"
	}
	return verb.Moment(&k.Expires, "never")
}
