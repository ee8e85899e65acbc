// Package card reads agents' cards, keeps them fresh and writes the cards that
// the gateway serves in their place.
//
// It owns the parsing of every card shape in the field (0.1 to 1.0 and the
// mixtures of them), the background fetching, the question which of a card's
// endpoints may be used, and the bytes, validators and caching headers of served
// cards.
//
// It does not own routing, authentication or the decision who sees which skill:
// the caller says what to show in a View. It keeps no state beyond the last good
// card and a few rendered forms. It imports ext, internal/wire,
// internal/secret and card/signature.
//
// A card is written by the agent and read by clients that trust the gateway, so
// that nothing of it passes without a reason: endpoints, security and extensions
// are the gateway's own, texts pass without internal addresses, and what is
// unknown passes unless a string in it gives the agent's address away.
//
// One card goes through it like this: a Source fetches the document in the background (Fetch), a
// Judge says whether it comes into force, Parse reads it whatever its version, and for each caller
// Reply has the bytes of a View: the skills that this caller may use, in the version that it asked
// for (VersionHeader).
//
// The package exports more than twenty names: a card has parts, which rules, routing and the
// console ask for one by one (Interface, Skill, Requirements, Schemes, Form), a Source has its
// configuration and limits, and what is served is described by a View. Each is used outside.
package card
