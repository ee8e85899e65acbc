package auditcmd

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/contents"
)

// subjectArgs are the argument and the flags of find-subject and erase: whose content is meant,
// and who does it, the files or, with --admin, a running gateway. The gateway is the better choice
// where it runs: it records who asked before anything is destroyed (decision 0007), while the
// files know nobody, and the gateway records the erasure afterwards, without a name.
type subjectArgs struct {
	from  *auditSource
	admin adminapi.Target
	whose vault.Subject
}

// command adds the flags and the argument to cmd, and has do run with both checked. An empty
// SUBJECT is refused: it comes from an unset variable of a script, and would match no principal,
// which reads as "this person has no data".
func (a *subjectArgs) command(cmd *cobra.Command, do func(*cobra.Command) error) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&a.whose.Issuer, "issuer", "", "`issuer` of the subject; default: any")
	f.StringVar(&a.admin.Address, "admin", "", "`URL` or host:port of the admin listener; a running gateway then does the work")
	f.StringVar(&a.admin.TokenFile, "token-file", "", "`file` with the admin token, instead of the configured one")
	cmd.Args = arguments.Count(1, 1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// cobra takes "" for an argument.
		if a.whose.Name = args[0]; a.whose.Name == "" {
			return verb.Usage(fmt.Errorf("SUBJECT: is empty"))
		}
		return do(cmd)
	}
	return cmd
}

// api is the client of the running gateway, nil when the files are meant. Without -c the token is
// looked for where the default configuration has it; --token-file makes any configuration
// unnecessary.
func (a *subjectArgs) api(cmd *cobra.Command) (*adminapi.Client, error) {
	if a.admin.Address == "" {
		return nil, nil
	}
	if a.admin.Config = a.from.config; a.admin.Config == "" {
		a.admin.Config = verb.ConfigPath()
	}
	return a.admin.Connect(cmd.Context())
}

// query is what the admin API is asked by: subject=…&issuer=…. Without an issuer the subject is
// meant whoever vouches for it, as in vault.Subject.
func (a *subjectArgs) query() string {
	q := url.Values{"subject": {a.whose.Name}}
	if a.whose.Issuer != "" {
		q.Set("issuer", a.whose.Issuer)
	}
	return q.Encode()
}

// auditFind is `audit find-subject`: by GET /api/v1/content, or from the files. It exits 0 with
// nothing printed where nothing was captured. Unlike content it stops at the first item that
// cannot be read: a list that is to answer "what do you hold of me" must not be short without a
// word.
func auditFind(from *auditSource) *cobra.Command {
	a := subjectArgs{from: from}
	return a.command(&cobra.Command{
		Use:   "find-subject SUBJECT",
		Short: "List the captured content of a principal's calls",
		Long: "List the captured content of a principal's calls as one line of JSON each, without the bodies. Without\n" +
			"--admin, the command reads the files, which needs the gateway's keys.",
	}, func(cmd *cobra.Command) error {
		api, err := a.api(cmd)
		if err != nil {
			return err
		}
		if api != nil {
			return listContents(api, cmd.OutOrStdout(), a.query())
		}
		r, done, err := from.held()
		if err != nil {
			return err
		}
		defer done()
		// "" is every agent.
		for item, err := range r.Of(a.whose, "") {
			if err == nil {
				err = printItem(cmd.OutOrStdout(), item, false)
			}
			if err != nil {
				return verb.Failed(err)
			}
		}
		return nil
	})
}

// auditErase is `audit erase`: by POST /api/v1/content/erase, or on the files. It prints how many
// calls and bytes are gone. Doing it twice is no error; the second time erases nothing. What was
// erased before an error stays erased, and the same command goes on from there.
func auditErase(from *auditSource) *cobra.Command {
	a := subjectArgs{from: from}
	return a.command(&cobra.Command{
		Use:   "erase SUBJECT",
		Short: "Erase the captured content of a principal's calls",
		Long: "Erase the captured content of a principal's calls, for good, by destroying its keys. The records stay\n" +
			"unchanged, and a new record says what was erased. With --admin, the running gateway erases, and first\n" +
			"records who requested it. Without --admin, the command works on the files, which needs the gateway's\n" +
			"keys. The gateway then records the erasure within a second, or at its next start.",
	}, func(cmd *cobra.Command) error {
		erased, err := a.erase(cmd)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "erased: the content of %s, %d bytes\n", plural(erased.Calls, "call"), erased.Bytes)
		return err
	})
}

// erase does it and says what is gone. On the files it destroys the keys of the items (the bytes
// that stay behind are then noise) and leaves a note, of which the gateway makes a record.
func (a *subjectArgs) erase(cmd *cobra.Command) (e contents.Erased, err error) {
	api, err := a.api(cmd)
	if err != nil {
		return e, err
	}
	if api != nil {
		// The gateway records the token's name with the erasure, and refuses a token of a role
		// that may not.
		return e, api.Do(http.MethodPost, "/api/v1/content/erase?"+a.query(), &e)
	}
	r, done, err := a.from.held()
	if err != nil {
		return e, err
	}
	defer done()
	// The clock is an argument, as the note about an erasure has its time.
	erased, err := r.Erase(a.whose, "", time.Now)
	if err != nil {
		return e, verb.Failed(err)
	}
	return contents.Erased{ID: erased.ID, Calls: erased.Items, Bytes: erased.Bytes}, nil
}

// listContents prints what there is of a subject, page by page, by GET /api/v1/content with limit
// and cursor. Each item is printed as it comes, so that memory does not grow with the list, and
// what was read before an error is there.
func listContents(a *adminapi.Client, w io.Writer, query string) error {
	for cursor := ""; ; {
		var page contents.ContentPage
		if err := a.Do(http.MethodGet, adminapi.PagePath("/api/v1/content?"+query, cursor), &page); err != nil {
			return err
		}
		for i := range page.Content {
			line, err := json.Marshal(&page.Content[i])
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}
