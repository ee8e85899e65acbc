package proxy

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
)

// GuardMessage is what guards find in a call, which is not changed. Those that ask a service are left
// out. It is for `explain`, which says what would become of a call that is not made.
func GuardMessage(ctx context.Context, guards guard.Selection, cs *wire.Carriers) *guard.Result {
	return inspect.GuardMessage(ctx, guards.Offline(), cs)
}
