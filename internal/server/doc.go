// Package server is the public listener: sockets, TLS, HTTP/1.1 and HTTP/2, and
// everything about a request that is wrong before anyone asks who sent it.
//
// # One connection
//
//	listener    accepts, counts by the client's address, refuses what is above the budget
//	handshakes  TLS, in a goroutine each; ALPN says HTTP/1.1 or HTTP/2
//	strict      reads HTTP/1.1 byte by byte, and passes what is in order (a package)
//	http1       serves HTTP/1.1: heads, bodies, answers (a package)
//	flood       counts the frames of HTTP/2 that serve no call, under http2 (a package)
//	serve       around every request: HSTS, the host of the handshake, the body's pace
//	handler     the gateway; it asks screen.Request and clientip.Of (packages) first
//
// # Parts
//
//	Server            what is listened on, and what Reload may change
//	certificates      TLS: files, their renewal, client CAs, answers to ACME checks
//	drain             what Shutdown waits for
//	connectionBudget  how many connections the limits and the descriptors leave
//	Detached          an answer that goes on after its handler has returned
//
// It owns the server: section of the configuration, the certificates and their
// renewal, connection limits and timeouts, and draining. Listening sockets that systemd or a
// process before this one has opened are those of package sockets.
//
// It does not own routes, errors' shapes, hosts that are served or any answer
// but the one it gives when it has too many connections: the handler it is
// given does. The status and admin listeners are served by others.
//
// It may import internal/wire, internal/secret, internal/overload, internal/netpoll,
// internal/hostname and its own packages below, but for acme.
package server
