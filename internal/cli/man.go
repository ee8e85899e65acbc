package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// configPage is the file of the configuration's manual page, in section 5 of the manual.
const configPage = "a2a-gateway.yaml.5"

// manCommand is `a2a-gateway man`: it writes a page for each command, and a2a-gateway.yaml(5) for
// the configuration, into --dir, which packages install. The pages have no date in them, so that
// two builds of one commit have the same bytes.
func manCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Write manual pages for the commands (section 1) and the configuration (section 5)",
		Args:  arguments.None,
	}
	dir := cmd.Flags().String("dir", ".", "`directory` to write to")
	cmd.RunE = func(*cobra.Command, []string) error {
		// The configuration's page is made of the same types as its schema.
		page, err := configManual()
		if err != nil {
			return verb.Failed(err)
		}
		if err := os.MkdirAll(*dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
			return verb.Failed(err)
		}
		// Before the pages of the commands, which refer to it.
		if err := os.WriteFile(filepath.Join(*dir, configPage), []byte(page), 0o644); err != nil { //nolint:gosec // the same
			return verb.Failed(err)
		}
		// Else each page would have the day of its making in it.
		root.DisableAutoGenTag = true
		return doc.GenManTree(root, &doc.GenManHeader{Title: "A2A-GATEWAY", Section: "1"}, *dir)
	}
	return cmd
}

// configManual is a2a-gateway.yaml(5). A key has its whole path, so that it is found by that
// in a page as long as this one.
func configManual() (string, error) {
	mappings, err := config.Reference()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(configManualBegin)
	for _, m := range mappings {
		title, above := m.Key, m.Key+"."
		if m.Key == "" {
			title, above = "The file", ""
		}
		fmt.Fprintf(&b, ".SS \"%s\"\n", roff(title))
		for _, k := range m.Keys {
			writeKey(&b, above, &k)
		}
	}
	b.WriteString(configManualEnd)
	return b.String(), nil
}

// writeKey writes one key: its whole path, its type and its documentation. A mapping that has the
// same keys as another refers to that one in place of repeating them.
func writeKey(b *strings.Builder, above string, k *config.Key) {
	kind, text := k.Type, k.Text
	if k.As != "" {
		kind += ", as in " + k.As
	}
	if k.With != "" {
		text = "See " + above + k.With + "."
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR (%s)\n%s\n", roff(above+k.Name), roff(kind), roff(text))
}

// roff writes a text so that troff prints it as it is: its own characters would be commands and
// typography, and those beyond ASCII depend on what the reader's locale is. Spaces and line breaks
// become single spaces, and a dot at the beginning, which would begin a request, is hidden behind
// \&.
func roff(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		switch name, special := roffNames[r]; {
		case special:
			b.WriteString(name)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	if first := b.String(); strings.HasPrefix(first, ".") {
		return `\&` + first
	}
	return b.String()
}

// roffNames are the characters that troff would print as others, or take for commands
// (groff_char(7)).
var roffNames = map[rune]string{
	'\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`, '"': `\(dq`,
}

// configManualBegin is the page up to its list of keys.
const configManualBegin = `.TH "A2A\-GATEWAY.YAML" "5" "" "a2a\-gateway" ""
.nh
.ad l
.SH NAME
a2a\-gateway.yaml \- configuration of a2a\-gateway
.SH DESCRIPTION
The file that \fBa2a\-gateway serve \-c\fR \fIFILE\fR and others read: YAML, with the keys below.
An unknown key is an error that names file, line and column;
\fBa2a\-gateway validate \-c\fR \fIFILE\fR checks a file, and \fBa2a\-gateway schema\fR prints its JSON Schema for editors.
Changes of the file, and SIGHUP, have a running gateway read it again; a bad file changes nothing.
.PP
Texts may hold ${NAME} or ${NAME:\-default} from the environment; $${ is a literal ${.
Secrets may be {file: PATH} too. Relative paths are relative to the file.
A duration is written as 90s, 15m, 1h30m or 7d, and a size as 512 (bytes), 64KiB or 10MB.
.SH KEYS
In keys, [] is any entry of a list, and {} any member of a mapping.
`

// configManualEnd is what comes after it.
const configManualEnd = `.SH SEE ALSO
\fBa2a\-gateway\fR(1), \fBa2a\-gateway\-serve\fR(1), \fBa2a\-gateway\-validate\fR(1), \fBa2a\-gateway\-schema\fR(1)
`
