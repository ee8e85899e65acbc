package wellknown

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Enter is the stage Locate for what belongs to no agent.
func (ds *Documents) Enter(x *exchange.Exchange) error {
	x.Rec.Method = "ListAgents"
	x.Call.Binding, x.Call.Version = wire.HTTPJSON, wire.V10
	if _, err := ds.Screen(x); err != nil {
		return err
	}
	if x.Request.Method != http.MethodGet && x.Request.Method != http.MethodHead {
		return exchange.NotAllowed([]string{http.MethodGet, http.MethodHead})
	}
	return nil
}

// Visit is the stage Authenticate for the catalog. Strangers may come in where the catalog is public
// and says anything to them; else they are told no more than of any agent.
func (ds *Documents) Visit(x *exchange.Exchange) error { return ds.GreetCaller(x, ds.Browse.Public) }

// ServeCatalog answers with the agents that the caller may know of, as far as they are
// asked for. What an agent's card is to somebody else does not show, nor how many agents
// there are: a search finds nothing in what is not listed.
//
// A wrong query is INVALID_PARAMS (400) and names the parameter. The next page is in the body and
// in a Link header (RFC 8288), as not every reader parses the body.
func (ds *Documents) ServeCatalog(x *exchange.Exchange, form *catalog.Form) error {
	q, err := catalog.Parse(x.Request.URL.RawQuery, ds.Catalog)
	var wrong catalog.Error
	if errors.As(err, &wrong) {
		return wire.Errorf(wire.InvalidParams, "%s", wrong.Error())
	}
	list, err := ds.agentsFor(x)
	if err != nil {
		return err
	}
	body, next := ds.Browse.Write(form, list, q)
	h := x.Writer.Header()
	h.Set("Content-Type", form.Type)
	h.Set("X-Content-Type-Options", "nosniff") // the texts are agents'
	if credentials := ds.Authn.CredentialHeaders(); len(credentials) > 0 {
		h.Set("Vary", strings.Join(credentials, ", "))
	}
	h.Add("Link", "<"+ds.PublicURL.String()+catalog.Linkset.Path+`>; rel="api-catalog"; type="application/linkset+json"; profile="`+catalog.Profile+`"`)
	if next != "" {
		h.Add("Link", "<"+next+`>; rel="next"`)
	}
	if x.Principal != nil && x.Principal.Method != "anonymous" {
		// No entity tag: wherever it is logged it would tell one caller's permissions
		// from another's.
		h.Set("Cache-Control", "private, no-store")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		x.Writer.WriteHeader(http.StatusOK)
		if x.Request.Method != http.MethodHead {
			_, _ = x.Writer.Write(body) // the client is gone; there is nobody left to tell
		}
		return nil
	}
	sum := sha256.Sum256(body)
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(cardMaxAge/time.Second)))
	h.Set("Etag", `"`+base64.RawURLEncoding.EncodeToString(sum[:16])+`"`)
	http.ServeContent(x.Writer, x.Request, "", time.Time{}, bytes.NewReader(body))
	return nil
}
