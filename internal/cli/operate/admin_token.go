package operate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// madeToken is what `admin token --output json` prints. Token is the only copy there is.
type madeToken struct {
	Name    string     `json:"name"`
	Role    api.Role   `json:"role"`
	Token   string     `json:"token"`
	Digest  string     `json:"digest"`
	Expires *time.Time `json:"expires,omitempty"`
}

// AdminCommand is `a2a-gateway admin`, which internal/cli mounts.
func AdminCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "admin", Short: "Set up access to the admin listener"}
	cmd.AddCommand(adminTokenCommand())
	return cmd
}

// adminTokenCommand is `admin token`. It works offline: it makes 130 random bits
// (crypto/rand.Text) and prints them with the entry of admin.tokens, which has their SHA-256. A
// hash without salt or stretching is enough for a text that nobody can guess. All flags are
// checked before there is a token, so that an error does not leave one behind that was shown and
// is of no use.
//
// Standard output has the token and nothing else, so that it can be sent to the file that --token-file names
// (JSON has all in one document). The lines for the configuration are on standard error:
//
//	admin:
//	  tokens:
//	    - {name: ci, role: viewer, digest: "sha256:9f86…", expires: "2026-12-24T00:00:00Z"}
//
// The gateway takes the token once the file says so; revoking it is taking the line out.
func adminTokenCommand() *cobra.Command {
	var t console.Token
	var ttl quantity.Duration
	cmd := &cobra.Command{
		Use:   "token --name NAME",
		Short: "Create a token for the admin listener and print it once, with its line for the configuration",
		Long: "Create a random token for the admin listener. The command prints the token once and stores it\n" +
			"nowhere. Copy the printed lines with the token's digest into the configuration. Pass the token to\n" +
			"commands with --token-file. Programs send it as bearer token.",
		Args: arguments.None,
	}
	f := cmd.Flags()
	f.StringVar(&t.Name, "name", "", "`name` of the token's holder in audit records; required")
	role := f.String("role", string(api.Viewer), "`role`: viewer, operator or admin")
	verb.DurationVar(f, &ttl, "ttl", 0, "`lifetime`, such as 30d; none means for ever")
	output := f.StringP("output", "o", "text", "`format`: text or json")
	_ = cmd.MarkFlagRequired("name") // there is such a flag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(verb.Formats, *output) {
			return verb.Usage(verb.ErrOutput) // before there is a token that nobody would see
		}
		token := rand.Text()
		sum := sha256.Sum256([]byte(token))
		// The role is checked by Validate below, as the gateway does with the line that comes of
		// it.
		t.Role, t.Digest = api.Role(*role), "sha256:"+hex.EncodeToString(sum[:])
		made := madeToken{Name: t.Name, Role: t.Role, Token: token, Digest: t.Digest}
		if ttl > 0 {
			t.Expires = time.Now().Add(ttl.Std()).UTC().Truncate(time.Second)
			made.Expires = &t.Expires
		}
		if err := t.Validate(); err != nil {
			return verb.Usage(err)
		}
		if *output == "text" {
			belongs(cmd.ErrOrStderr(), &t)
		}
		return verb.Show(cmd.OutOrStdout(), *output, made, func(w io.Writer) { _, _ = fmt.Fprintln(w, token) })
	}
	return cmd
}

// belongs prints the lines that the configuration needs for the gateway to take a token.
func belongs(w io.Writer, t *console.Token) {
	expires := ""
	if !t.Expires.IsZero() {
		expires = fmt.Sprintf(", expires: %q", t.Expires.Format(time.RFC3339))
	}
	_, _ = fmt.Fprintf(w, "The gateway takes the token once its configuration has:\n\n"+
		"admin:\n  tokens:\n    - {name: %s, role: %s, digest: %q%s}\n\n"+
		"A file with the token, for --token-file, must be closed to other users: chmod 600 FILE\n", t.Name, t.Role, t.Digest, expires)
}
