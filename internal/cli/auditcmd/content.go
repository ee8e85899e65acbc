package auditcmd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// held opens what was captured of calls (telemetry.audit.content). It is sealed by keys of the
// gateway's ring, whose place only a configuration says: --dir alone is refused, with the reason.
// The caller calls done when it has read, which ends the watching of the key files; done is nil
// with an error.
func (a auditSource) held() (r vault.Reader, done func(), err error) {
	if a.config == "" {
		return r, nil, verb.Usage(errors.New("content is sealed by the gateway's keys: name its configuration by -c"))
	}
	// For the keys, which a Source has not. First, as an error of open names --dir in place of the
	// configuration, which does not do here.
	cfg, err := config.Load(a.config)
	if err != nil {
		return r, nil, verb.Usage(err)
	}
	source, err := a.open()
	if err != nil {
		return r, nil, err
	}
	return Held(cfg, source)
}

// Held opens what was captured of the calls of a log, with the keys of a configuration. The caller calls done
// when it has read; it is nil with an error.
func Held(cfg *config.Config, source reader.Source) (r vault.Reader, done func(), err error) {
	ring, err := sealingKeys(cfg)
	if err != nil {
		return r, nil, verb.Usage(err)
	}
	return source.Held(ring), ring.Close, nil
}

// sealingKeys opens the ring of keys of a configuration, and makes none. keys.Open makes a key
// where keys.dir has none, as a gateway at its first start needs one; a verb that did so on
// another machine would report every item as damaged, in place of the missing directory.
//
// The ring logs to nobody: it tells of rotations, which do not matter to a verb that ends at once.
func sealingKeys(cfg *config.Config) (*keys.Ring, error) {
	if len(cfg.Keys.Sealing) == 0 { // a key that is made here would open nothing
		if _, err := os.Stat(cfg.Keys.Dir); err != nil {
			return nil, fmt.Errorf("keys.dir: %w", err)
		}
	}
	ring, err := keys.Open(cfg.Keys, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return ring, nil
}

// auditContent is `audit content`: it opens one item and prints it as a line of JSON, bodies of
// request and response included, which are base64 as encoding/json has []byte. Exit 1 where there
// is no such item, also because retention or a request of its subject has erased it: which of the
// two, `audit find-subject` and the records of erasures tell.
func auditContent(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "content",
		Short: "Show the captured content of a call",
		Long:  "Show the captured content of a call. Select it by its content id or by the request id.",
		Args:  arguments.None,
	}
	id := cmd.Flags().String("id", "", "`id` of the content: content.id in the record")
	request := cmd.Flags().String("request", "", "`id` of the request: request_id in the record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// Both could name different calls, and neither names none.
		if (*id == "") == (*request == "") {
			return verb.Usage(errors.New("name the content by --id or the call by --request"))
		}
		r, done, err := from.held()
		if err != nil {
			return err
		}
		defer done()
		item, err := contentOf(r, *id, *request)
		if err != nil {
			return verb.Failed(err)
		}
		return printItem(cmd.OutOrStdout(), item, true)
	}
	return cmd
}

// contentOf finds one item. An id leads to its file; a request id is in the items themselves, so
// that all of them are opened until one fits. Items that cannot be opened are passed over and told
// only where the wanted one was not found, since it may be among them.
func contentOf(r vault.Reader, id, request string) (vault.Item, error) {
	if id != "" {
		return r.Item(id)
	}
	var fault error
	// Errors are kept for the end: one that is damaged must not hide the wanted one.
	for item, err := range r.Items() {
		if err == nil && item.RequestID == request {
			return item, nil
		}
		fault = errors.Join(fault, err)
	}
	return vault.Item{}, errors.Join(errors.New("there is no content of this call, or not any more"), fault)
}

// heldItem is an item as it is printed: the vault leaves id and digest out of its JSON, as they
// are the name of the file and the seal around it, and a reader needs both to find the record.
type heldItem struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	vault.Item
}

// printItem prints an item as a line of JSON. Without bodies it is who called, when and what,
// which is what a list of a person's data needs, and what may be kept in a ticket.
func printItem(w io.Writer, item vault.Item, bodies bool) error {
	if !bodies {
		item.Request, item.Response = nil, nil
	}
	line, err := json.Marshal(heldItem{item.ID, item.Digest, item})
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
