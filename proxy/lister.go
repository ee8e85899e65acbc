package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// lister answers ListTasks: what an agent lists, less what is somebody else's, in pages of the gateway's.
type lister struct {
	*cursors
	*recorder
	*decoder
	*owners
	*inspector
	*forwarder

	Ledger *ledger.Ledger
	Server *server.Config
}
