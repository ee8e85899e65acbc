// Package catalog writes lists of agents: the gateway's own, a linkset (RFC 9264) as
// RFC 9727 wants it, and an AI catalog (https://ai-catalog.io, specification 1.0).
//
// It owns the `catalog:` section, the query by which agents are searched, pages, and the
// bytes of the documents. It does not own the question who sees what: entries come in as
// they may be shown to one reader, and documents go out. It knows no HTTP and keeps
// nothing but what it was given. It imports nothing of ours.
//
// # Three forms of one list
//
// GET /agents is the gateway's own form; the other two are for tools that know nothing of A2A:
//
//	/agents                        {"agents":[{"id":"billing","url":…,"skills":[…]}],"total":1,"next":…}
//	/.well-known/api-catalog       {"linkset":[{"anchor":…,"item":[{"href":…}]},{"anchor":…,"service-desc":[…]}]}
//	/.well-known/ai-catalog.json   {"specVersion":"1.0","host":{…},"entries":[{"identifier":…,"type":"application/a2a-agent-card+json"}]}
//
// An Entry holds the agent in each of the forms as bytes, since lists are read often and cards
// change seldom: a page is written by copying. A List is sorted by agent id, and a page is a
// range of it behind an id, so that agents that come or go between two pages shift nothing.
//
// A Query asks for agents that have everything it names: skills and extensions by their ids, tags
// and words in any case. Its errors are of the type Error, in words for the client; there are no
// others.
package catalog
