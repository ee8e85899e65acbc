package proxy

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// decoder finds out whom a request is for and reads what it asks, in each binding and version.
type decoder struct {
	*admit.Admissions
	*admit.Authenticator
	*negotiate.ExtensionRules
	*record.Recorder
	*frontend

	Drain  func(end func()) (stop func() bool)
	Ledger *ledger.Ledger
	Policy *policy.Set
	Server *server.Config
	Steps  state.Steps
	System http.Handler
	agents map[string]*agents.Agent
	extra  *wire.Extra
	hidden *wire.Extra
	hosts  map[string]*agents.Agent
	prefix prefix
	self   map[string]struct{}
	sole   *agents.Agent
}

// readBody takes in the whole request body: nothing is forwarded that has not
// been read and checked to its end.
func (de *decoder) readBody(x *exchange.Exchange) (*buffers.Buffer, error) {
	limit := int64(de.Server.Limits.Body)
	b := buffers.NewFor(min(x.Request.ContentLength, limit))
	err := de.takeIn(x, b, limit)
	if err == nil {
		return b, nil
	}
	b.Release()
	var tooLarge *http.MaxBytesError
	var over overload.Rung
	switch {
	case errors.As(err, &over):
		x.Writer.Header().Set("Connection", "close") // nobody reads the rest
		return nil, err
	case errors.Is(err, buffers.ErrTooLong), errors.As(err, &tooLarge):
		x.Writer.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return nil, wire.Errorf(wire.TooLarge, "the body exceeds server.limits.body (%d bytes)", limit)
	}
	if x.Request.ProtoMajor == 1 {
		x.Writer.Header().Set("Connection", "close") // where the next request begins is not known
	}
	return nil, wire.Errorf(wire.Malformed, "the body could not be read").Because(err)
}

// takeIn reads a body into b. Of one whose length is not said no more is read than any body
// may have, until there is memory for the largest that it may turn out to be.
func (de *decoder) takeIn(x *exchange.Exchange, b *buffers.Buffer, limit int64) error {
	length := x.Request.ContentLength
	if length > limit {
		return buffers.ErrTooLong
	}
	if large := int64(de.Server.Limits.LargeBody); length < 0 && large < limit {
		if err := b.Fill(x.Request.Body, length, large); !errors.Is(err, buffers.ErrTooLong) {
			return err
		}
		if err := de.MakeRoom(x, limit); err != nil {
			return err
		}
		return b.Fill(x.Request.Body, length, limit)
	}
	if err := de.MakeRoom(x, length); err != nil {
		return err
	}
	return b.Fill(x.Request.Body, length, limit)
}

func (de *decoder) decodeLimits() wire.Limits {
	l := de.Server.Limits
	return wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts}
}
