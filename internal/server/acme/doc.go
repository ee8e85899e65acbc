// Package acme gets certificates from a CA for the names of server.tls.acme and renews
// them (RFC 8555), by certmagic. What it has to remember, keys included, it keeps in the
// state, sealed, so that a gateway finds its certificates again after a restart and
// replicas share them: one of them makes an order, the others wait for it, and whichever
// the CA's check reaches can answer it.
//
// It decides when to try, and tells what came of it. It does not own the handshakes that
// the certificates are for, which internal/server does, nor the configuration's type.
//
// It may import internal/server, internal/state and what lies below.
package acme
