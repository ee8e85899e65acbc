package auditcmd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// held opens what was captured, which needs the gateway's keys.
func (a auditSource) held() (r vault.Reader, done func(), err error) {
	if a.config == "" {
		return r, nil, verb.Usage(errors.New("content is sealed by the gateway's keys: name its configuration by -c"))
	}
	source, err := a.open()
	if err != nil {
		return r, nil, err
	}
	cfg, err := config.Load(a.config)
	if err != nil {
		return r, nil, verb.Usage(err)
	}
	ring, err := sealingKeys(cfg)
	if err != nil {
		return r, nil, verb.Usage(err)
	}
	return source.Held(ring), ring.Close, nil
}

// sealingKeys opens the keys of a configuration, and makes none.
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

func auditContent(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "content",
		Short: "Show what was captured of a call",
		Long:  "Show what was captured of a call: by the id that its record has, or by its request id.",
		Args:  cobra.NoArgs,
	}
	id := cmd.Flags().String("id", "", "`id` of the content, content.id of the record")
	request := cmd.Flags().String("request", "", "`id` of the request, request_id of the record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
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

func contentOf(r vault.Reader, id, request string) (vault.Item, error) {
	if id != "" {
		return r.Item(id)
	}
	var fault error
	for item, err := range r.Items() {
		if err == nil && item.RequestID == request {
			return item, nil
		}
		fault = errors.Join(fault, err)
	}
	return vault.Item{}, errors.Join(errors.New("there is no content of this call, or not any more"), fault)
}

// heldItem is an item as it is printed.
type heldItem struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	vault.Item
}

// printItem prints an item as a line of JSON, with its bodies or without.
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
