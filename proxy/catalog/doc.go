// Package catalog writes lists of agents: the gateway's own, a linkset (RFC 9264) as
// RFC 9727 wants it, and an AI catalog (https://ai-catalog.io, specification 1.0).
//
// It owns the `catalog:` section, the query by which agents are searched, pages, and the
// bytes of the documents. It does not own the question who sees what: entries come in as
// they may be shown to one reader, and documents go out. It knows no HTTP and keeps
// nothing but what it was given. It imports nothing of ours.
package catalog
