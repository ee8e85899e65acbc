package proxy

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// cardViews is what a card says to a caller: the skills that are the caller's to use, the gateway's
// addresses, the credentials it takes.
type cardViews struct {
	*extensionRules
	*frontend

	Book      *ext.Book
	GRPC      bool
	Policy    *policy.Set
	PublicURL *url.URL
	Schemes   card.Schemes
	offered   map[string]ext.Declared
	signer    *signature.Signer
}
