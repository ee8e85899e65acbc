package cardcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// verified is what `card verify --output json` prints.
type verified struct {
	Holds      bool         `json:"holds"`
	Error      string       `json:"error,omitempty"`
	Signatures []oneVerdict `json:"signatures"`
	// Uncovered are members that are not signed, as JSON pointers.
	Uncovered []string `json:"uncovered,omitempty"`
}

// oneVerdict is one signature.
type oneVerdict struct {
	Algorithm  string         `json:"alg"`
	KeyID      string         `json:"kid"`
	JKU        string         `json:"jku,omitempty"`
	Holds      bool           `json:"holds"`
	Form       signature.Form `json:"form,omitempty"`
	Thumbprint string         `json:"thumbprint,omitempty"`
	Source     string         `json:"source,omitempty"`
	Error      string         `json:"error,omitempty"`
}

// cardVerify is `card verify`. Somebody has to be named whose keys count: a signature that fits a
// key which the card itself points to says nothing about who made it, and --jku limits from where
// such keys are taken. Exit 0 says that at least one signature holds, as signatures are added by
// several parties and a reader knows one of them; exit 1 that none does, or that the card or the
// keys could not be had; exit 2 that the flags say nothing.
//
// The verdict is printed before the exit code is decided, also where none holds: each signature
// has a line with its reason. Keys of a JWK set that are passed over are warnings on standard
// error.
func cardVerify() *cobra.Command {
	var trust signature.Trust
	cmd := &cobra.Command{
		Use:   "verify URL|FILE",
		Short: "Verify the signatures of a card; exit 1 if none is valid",
		Long: "Verify the signatures of a card at a URL, in a file, or - for the standard input. The flags name the\n" +
			"trusted keys. The command checks each signature separately. Exit 1 if none is valid.",
		Args: arguments.Count(1, 1),
	}
	f := cmd.Flags()
	f.StringArrayVar(&trust.Keys, "key", nil, "`file` with public keys: PEM, a JWK or a JWK set; repeatable")
	f.StringVar((*string)(&trust.JWKS), "jwks", "", "`URL` of a JWK set")
	f.StringArrayVar(&trust.JKU, "jku", nil, "`host` or https URL of JWK sets that a signature may name in its jku; repeatable")
	f.BoolVar(&trust.AllowPrivateNetworks, "allow-private-networks", false, "with --jku, also hosts with private addresses")
	f.StringVar(&trust.CA, "ca", "", "`file` with trusted certificates for --jwks and --jku")
	verb.AddProxy(f)
	output := f.StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// A default, such as the key in the card itself, would have every forged card hold.
		if trust.IsZero() {
			return verb.Usage(errors.New("whose keys count? name them with --key, --jwks or --jku"))
		}
		if err := trust.Validate(); err != nil {
			return verb.Usage(err)
		}
		egress, err := verb.EgressOf(cmd)
		if err != nil {
			return err
		}
		v, err := signature.New(trust, signature.Options{Egress: egress, Skipped: func(source string, k jws.Skipped) {
			fmt.Fprintln(cmd.ErrOrStderr(), verb.Printable(fmt.Sprintf("warning: %s: %s", source, k)))
		}})
		if err != nil {
			return verb.Usage(err)
		}
		defer v.Close()
		doc, err := readCard(cmd, args[0])
		if err != nil {
			return verb.Failed(err)
		}
		// The error is the verdict of all signatures together, and verdict what is known of each.
		verdict, err := v.Verify(cmd.Context(), doc)
		said := tell(verdict, err)
		if failure := verb.Show(cmd.OutOrStdout(), *output, said, func(w io.Writer) { said.table(w) }); failure != nil {
			return failure
		}
		if err != nil {
			return verb.Failed(brief(err))
		}
		return nil
	}
	return cmd
}

// brief is the verdict without the reasons, which were printed for each signature.
func brief(err error) error {
	for _, kind := range []error{signature.ErrUnsigned, signature.ErrUntrusted, signature.ErrUnavailable} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// tell puts the verdict into the form that is printed. Signatures is never nil.
func tell(v signature.Verdict, err error) verified {
	said := verified{Holds: err == nil, Signatures: []oneVerdict{}, Uncovered: v.Uncovered}
	if err != nil {
		said.Error = brief(err).Error()
	}
	for _, r := range v.Signatures {
		j := oneVerdict{
			Algorithm: r.Algorithm, KeyID: r.KeyID, JKU: r.JKU, Holds: r.Err == nil,
			Form: r.Form, Thumbprint: r.Thumbprint, Source: r.Source,
		}
		if r.Err != nil {
			j.Error = r.Err.Error()
		}
		said.Signatures = append(said.Signatures, j)
	}
	return said
}

// table prints a line for each signature, and below them the members of the card that no signature
// covers, which a reader must not trust although the card is signed.
//
// An example. FORM is the canonical form that the signature fits, and KEY FROM where the key was
// found:
//
//	ALG    KID         VERDICT                 FORM  KEY FROM
//	EdDSA  3tqH…       holds                   full  card.pem
//	ES256  2026-01     no key of this kid      -     -
func (v verified) table(w io.Writer) {
	if len(v.Signatures) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ALG\tKID\tVERDICT\tFORM\tKEY FROM")
	for _, s := range v.Signatures {
		said := "holds"
		if !s.Holds {
			said = s.Error
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", verb.Cell(s.Algorithm), verb.Cell(s.KeyID), said, verb.Cell(string(s.Form)), verb.Cell(s.Source))
	}
	_ = t.Flush()
	for _, at := range v.Uncovered {
		_, _ = fmt.Fprintln(w, "not signed:", verb.Cell(at))
	}
}

// readCard reads a card from where an argument says: - is standard input, http:// and https:// are
// fetched by the proxy of --proxy, without credentials, and anything else is a file. It reads one
// byte more than card.MaxSize, by which the parser sees that a card is too large.
func readCard(cmd *cobra.Command, from string) ([]byte, error) {
	switch {
	case from == "-":
		return io.ReadAll(io.LimitReader(cmd.InOrStdin(), card.MaxSize+1))
	case strings.HasPrefix(from, "http://"), strings.HasPrefix(from, "https://"):
		egress, err := verb.EgressOf(cmd)
		if err != nil {
			return nil, err
		}
		// 0 is card.MaxSize, the bound that every card has.
		c, err := card.Fetch(cmd.Context(), verb.Fetching(egress), secret.URL(from), 0)
		if err != nil {
			return nil, err
		}
		return c.Raw, nil
	}
	f, err := os.Open(from) //nolint:gosec // a path of the command line
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, card.MaxSize+1))
}
