package keyscmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
)

// keysRevoke is `keys revoke ID`. Without --config it takes the key out of the file, which all
// gateways that read this file count within a second. With --config it tells all gateways that
// share the state, for the case that each has a file of its own, from a secret that is rolled out
// slowly; the file stays as it is and the key stays in it. It prints nothing where it has
// succeeded.
func keysRevoke(file *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key",
		Long: "Revoke a key by removing it from its file. With --config, revoke it for all gateways that share the\n" +
			"state of that configuration (state.driver: redis), whatever files they read. The key then stays in\n" +
			"the file. Do not use an id again that you revoked like this.",
		Args: arguments.Count(0, 1),
	}
	path := cmd.Flags().StringP("config", "c", "", "configuration `file` of the gateways that share the revocation")
	name := cmd.Flags().String("id", "", "`name` of the key, instead of the argument")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id := *name
		switch {
		case len(args) == 1 && id != "":
			return verb.Usage(errors.New("the key is named twice: leave out --id or the argument"))
		case len(args) == 1:
			id = args[0]
		case id == "":
			return verb.Usage(errors.New("no key is named: give its id"))
		}
		if *path == "" {
			return revokeInFile(cmd.ErrOrStderr(), *file, id)
		}
		cfg, err := sharedConfig(cmd, *path, file)
		if err != nil {
			return verb.Usage(err)
		}
		return revokeEverywhere(cmd, cfg, *file, id)
	}
	return cmd
}

// revokeInFile takes a key out of the file. A key that is not there is an error with exit code 1:
// a misspelt id must not look as if it had been revoked. Other keys of the same caller stay valid, such as the
// one that Rotate has made of it, and w is told of them: whoever revokes a key may mean the caller.
func revokeInFile(w io.Writer, file, id string) error {
	keys, err := openExisting(file)
	if err != nil {
		return err
	}
	specs, err := keys.List()
	if err != nil {
		return verb.Usage(err)
	}
	// Whether the file can be written is found out here.
	err = keys.Revoke(id)
	if errors.Is(err, fs.ErrNotExist) {
		return verb.Failed(fmt.Errorf("%s holds no key %q", file, id))
	}
	if err != nil {
		return verb.Failed(err)
	}
	if others := sameSubject(specs, id, time.Now()); len(others) > 0 {
		_, _ = fmt.Fprintf(w, "still valid for the same subject: %s\n", strings.Join(others, ", "))
	}
	return nil
}

// sameSubject are the ids of the other keys that are valid now for the subject of a key.
func sameSubject(specs []apikey.Spec, id string, now time.Time) (others []string) {
	at := slices.IndexFunc(specs, func(k apikey.Spec) bool { return k.ID == id })
	for i := range specs {
		if k := &specs[i]; at >= 0 && i != at && k.Subject == specs[at].Subject && (k.Expires.IsZero() || k.Expires.After(now)) {
			others = append(others, k.ID)
		}
	}
	return others
}

// openExisting opens a key file that has to be there: only create makes one, and a misspelt name must not look
// like a file without keys. Errors have exit code 2.
func openExisting(file string) (*apikey.File, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, verb.Usage(fmt.Errorf("--file: %s does not exist", file))
	}
	keys, err := apikey.Open(file)
	if err != nil {
		return nil, verb.Usage(err)
	}
	return keys, nil
}

// sharedConfig loads the configuration of gateways with API keys. Unless --file says otherwise
// their key file is the one it names; *file is set to it, so that whatever reads the file
// afterwards reads that.
func sharedConfig(cmd *cobra.Command, path string, file *string) (*config.Config, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	if cfg.Authn.APIKeys == nil {
		return nil, fmt.Errorf("authn.apiKeys: %s configures no API keys", path)
	}
	if !cmd.Flags().Changed("file") {
		*file = cfg.Authn.APIKeys.File
	}
	return cfg, nil
}

// revokeEverywhere tells all gateways. That the key is not in the file here is no reason
// not to: it may be in theirs, and it may be urgent.
func revokeEverywhere(cmd *cobra.Command, cfg *config.Config, file, id string) error {
	life, doubt := lifeOf(file, id)
	err := revocation.RevokeKey(cmd.Context(), cfg, id, life)
	if errors.Is(err, revocation.ErrNotShared) {
		return verb.Usage(notShared(cfg, file))
	}
	if err != nil {
		return verb.Failed(fmt.Errorf("revoke key %q: %w", id, err))
	}
	// It is revoked all the same, which is what somebody in a hurry needs to know first.
	if doubt != nil {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "warning: %v; it is revoked, for good, wherever there is a key of this id\n", doubt)
	}
	return nil
}

// lifeOf is how long a key has to stay revoked: until it has expired, by the clock of any gateway,
// for which an hour is added. Without an expiry that is for good, which is what 0 stands for, and
// so it is where the key is not known; doubt then says why, for a warning. What is revoked for
// good stays in the shared state for ever, which is why it is not so for all.
func lifeOf(file, id string) (life time.Duration, doubt error) {
	const clocks = time.Hour
	keys, err := apikey.Open(file)
	if err != nil {
		return 0, err
	}
	specs, err := keys.List()
	if err != nil {
		return 0, err
	}
	for i := range specs {
		if specs[i].ID != id {
			continue
		}
		if specs[i].Expires.IsZero() {
			return 0, nil
		}
		return max(time.Until(specs[i].Expires), 0) + clocks, nil
	}
	return 0, fmt.Errorf("%s holds no key %q", file, id)
}

// notShared says what to do where gateways have their state for themselves.
func notShared(cfg *config.Config, file string) error {
	why := "is one gateway's own"
	if cfg.State.Driver == "sqlite" {
		why = "is a file that the running gateway holds"
	}
	return fmt.Errorf("state.driver: the state (%s) %s; use the key file, which it reads: --file %s",
		cfg.State.Driver, why, file)
}
