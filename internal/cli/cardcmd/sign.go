package cardcmd

import (
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// cardSign is `card sign`: it prints the signed card on standard output and leaves the file as it
// is. Nothing is asked of anybody. SDKs canonicalize a card in different ways (RFC 8785, with or
// without members that have default values), so that each form gets a signature of its own.
//
// With --public it prints the JWK set that belongs at the URL of --jku, and reads no card: both
// come from the same key file, so that they cannot disagree about its kid.
func cardSign() *cobra.Command {
	var path, jku string
	var public bool
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign an agent's card with a private key",
		Long: "Sign an agent's card and print it. FILE is the card; - is the standard input. The new signatures\n" +
			"replace the old ones, one for each canonical form that SDKs verify. The key is PEM, P-256 or\n" +
			"Ed25519; its kid is its thumbprint (RFC 7638).",
		Example: "  openssl genpkey -algorithm ed25519 -out card.pem\n" +
			"  a2a-gateway card sign agent-card.json --key card.pem >signed.json\n" +
			"  a2a-gateway card sign --key card.pem --public >jwks.json",
		Args: arguments.Count(0, 1),
	}
	f := cmd.Flags()
	f.StringVar(&path, "key", "", "`file` with the private key")
	f.StringVar(&jku, "jku", "", "`URL` of the JWK set with the public key, for the signature's jku")
	verb.AddProxy(f)
	f.BoolVar(&public, "public", false, "only print the JWK set with the public key")
	_ = cmd.MarkFlagRequired("key")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// The ring that the gateway signs with, of one key: thumbprints and algorithms are then
		// the same.
		ring, err := keys.Open(keys.Config{Signing: []string{path}}, slog.New(slog.DiscardHandler))
		if err != nil {
			return verb.Usage(err)
		}
		defer ring.Close()
		if public {
			return printJSON(cmd, ring.JWKS())
		}
		if len(args) == 0 {
			return verb.Usage(fmt.Errorf("%s: which FILE is to be signed?", cmd.CommandPath()))
		}
		doc, err := readCard(cmd, args[0])
		if err != nil {
			return verb.Usage(err)
		}
		signed, err := signature.NewSigner(ring, jku).SignAgain(doc)
		if err != nil {
			return verb.Failed(err)
		}
		return printJSON(cmd, signed)
	}
	return cmd
}

// printJSON prints a document for people; how it is set out is nothing that is signed.
func printJSON(cmd *cobra.Command, doc []byte) error {
	v := jsontext.Value(append([]byte(nil), doc...))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return verb.Failed(err)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", v)
	return err
}
