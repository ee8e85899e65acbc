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
package card
