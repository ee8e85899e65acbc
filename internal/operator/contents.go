package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// Contents are what was captured, as the console sees it.
type Contents struct{ *audit.Log }

// Of implements contents.Contents. The items are about a subject: what was captured of the
// bodies of the subject's calls, from behind the item after, at most limit. An item says
// when and how much and until when it is kept, and not what: that is sealed with a key of
// the subject's (see audit/vault).
func (c Contents) Of(ctx context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error) {
	var list []vault.Item
	for item, err := range c.Captured(s, after) {
		// Reading goes through files and may take long. It ends with the request: without
		// that, an operator who closes the page would leave the work behind.
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("list content: %w", err)
		}
		if list = append(list, item); len(list) == limit {
			break
		}
	}
	return list, nil
}

// Item implements contents.Contents.
func (c Contents) Item(id string) (vault.Item, error) { return c.CapturedItem(id) }
