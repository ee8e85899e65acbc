package webhooks

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// ErrAnswerLate is wrapped by what ends a call whose agent took longer than its timeout.
var ErrAnswerLate = upstream.ErrLate
