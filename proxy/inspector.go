package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// inspector holds requests and answers to what extensions, schemas, media types and the rules about
// files ask of their content.
type inspector struct {
	*extensionRules
	*frontend
	*decoder
	*owners
	*cardViews
	*hooks

	Book      *ext.Book
	Ledger    *ledger.Ledger
	Policy    *policy.Set
	Steps     state.Steps
	fileRules map[string]*files.Rules
	hidden    *wire.Extra
}
