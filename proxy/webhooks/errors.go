package webhooks

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

var ErrAnswerLate = upstream.ErrLate
