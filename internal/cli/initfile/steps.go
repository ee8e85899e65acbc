package initfile

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// next says on standard output what was found, and what to do now: the commands can be pasted as
// they are. The key of the sample call is shown here and nowhere else.
func (b *beginning) next(w io.Writer, path string) error {
	keys := filepath.Join(filepath.Dir(path), keysFile)
	t := "%s: the agent %s is %s %s, skills: %s\n"
	_, err := fmt.Fprintf(w, t, path, b.ID, b.Name, b.Version, verb.Cell(strings.Join(b.Skills, ", ")))
	for _, text := range b.Notes {
		_, _ = fmt.Fprintln(w, verb.Legible(text))
	}
	for _, text := range b.Found {
		_, _ = fmt.Fprintln(w, text)
	}
	if b.Behind() {
		_, _ = fmt.Fprintln(w, "look at server: something in front has to end TLS")
	}
	if b.Secured {
		_, _ = fmt.Fprintln(w, "look at credentials: the agent asks for some")
	}
	_, _ = fmt.Fprint(w, "\nNext:\n")
	// The file may be wrong, so that serving comes after looking.
	if b.Doubtful {
		_, _ = fmt.Fprintf(w, "  a2a-gateway validate --online -c %s\nand, once that finds nothing wrong:\n", quoted(path))
	}
	_, _ = fmt.Fprintf(w, "  a2a-gateway serve -c %s\n", quoted(path))
	b.nextCall(w, keys)
	_, _ = fmt.Fprintf(w, "Then give clients %s/agents/%s/ and a %s.\n", strings.TrimSuffix(b.PublicURL, "/"), b.ID, b.credential())
	_, _ = fmt.Fprint(w, b.listening())
	return err
}

// credential is what callers need.
func (b *beginning) credential() string {
	if b.Issuer != "" {
		return "token of the issuer, as bearer token"
	}
	return "key, in X-API-Key or as bearer token"
}

// nextCall prints a call to try, with the key in place where one was made. A token of an issuer
// cannot be made here, so that its reader is told to have one in TOKEN.
func (b *beginning) nextCall(w io.Writer, keys string) {
	key := b.Key
	switch {
	case b.Issuer != "":
		_, _ = fmt.Fprintf(w, "and in another terminal, with TOKEN set to an access token of %s for %s:\n", verb.Cell(b.Issuer), verb.Cell(b.Audience))
		key = "$TOKEN"
	case key == "":
		_, _ = fmt.Fprintf(w, "and in another terminal, with a key of %s:\n  KEY=$(a2a-gateway keys create --file %[1]s --id me)\n", quoted(keys))
		key = "$KEY"
	default:
		_, _ = fmt.Fprintf(w, "and in another terminal, with the key %s, which is shown this once:\n", b.KeyID)
	}
	_, _ = fmt.Fprintf(w, "  %s\n", b.call(key))
}

// call is a message to the agent as a curl command, in the version that the agent speaks:
// SendMessage of 1.0, or message/send of 0.3, which an agent of that version answers without
// translation.
func (b *beginning) call(token string) string {
	version, message := "-H 'A2A-Version: 1.0' ", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`
	if b.Old {
		version, message = "", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"hello"}]}}}`
	}
	return fmt.Sprintf("curl -s %s -H \"Authorization: Bearer %s\" %s-H 'Content-Type: application/json' \\\n    -d '%s'",
		quoted(strings.TrimSuffix(b.PublicURL, "/")+"/agents/"+b.ID+"/"), token, version, message)
}

// quoted is a word of a command for a POSIX shell: as it is where no character of it means
// anything to one, and else in single quotes.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
