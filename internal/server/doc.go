// Package server is the public listener: sockets, TLS, HTTP/1.1 and HTTP/2, and
// everything about a request that is wrong before anyone asks who sent it.
//
// It owns the server: section of the configuration, the certificates and their
// renewal, connection limits and timeouts, draining, the strict reading of
// requests (Screen) and of forwarded client addresses (ClientIP), and answers that go
// on after their handlers have returned (Detach).
//
// It does not own routes, errors' shapes, hosts that are served or any answer
// but the one it gives when it has too many connections: the handler it is
// given does. The status and admin listeners are served by others.
//
// It may import internal/wire, internal/secret, internal/overload, internal/netpoll and its
// own strict, flood and http1.
package server
