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

// Of implements contents.Contents.
func (c Contents) Of(ctx context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error) {
	var list []vault.Item
	for item, err := range c.Captured(s, after) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("list content: %w", err)
		}
		if list = append(list, item); len(list) == limit {
			break
		}
	}
	return list, nil
}
