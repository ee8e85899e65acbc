package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// owners keeps whose tasks and contexts are, and under which ids both sides know them.
type owners struct {
	ledger *ledger.Ledger
	salt   []byte
}
