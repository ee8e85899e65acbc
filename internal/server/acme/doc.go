// Package acme gets certificates from a CA for the names of server.tls.acme and renews
// them (RFC 8555), by certmagic. What it has to remember, keys included, it keeps in the
// state, sealed, so that a gateway finds its certificates again after a restart and
// replicas share them: one of them makes an order, the others wait for it, and whichever
// the CA's check reaches can answer it.
//
// # One certificate
//
//	Open        provides what the state has, and begins keep for each name
//	keep        attend, and waits: a twentieth of the lifetime (1 s to 1 h), or longer after a failure
//	attend      certmagic looks whether the certificate is to be renewed (RFC 9773, or
//	            renewalWindow), takes the lock of the name, and makes an order
//	issuer      account, order, challenge, finalization (RFC 8555 §7)
//	Answer      the CA connects meanwhile, by tls-alpn-01 (RFC 8737) to the public listener, or
//	ServeHTTP   by http-01 (RFC 8555 §8.3) to httpListen
//	take        hands the new certificate to internal/server, whose next handshake has it
//
// The challenge's answer is in the state too: behind a load balancer the CA reaches any replica,
// not the one that has made the order.
//
// It decides when to try, and tells what came of it. It does not own the handshakes that
// the certificates are for, which internal/server does, nor the configuration's type.
//
// It may import internal/server, internal/state and what lies below.
package acme
