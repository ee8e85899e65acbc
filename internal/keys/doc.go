// Package keys holds the gateway's own keys: it signs JSON Web Signatures with them
// and publishes the public halves as a JWK set, two at a time while one takes over from
// the other. It also seals what only the gateway and its replicas are to read.
//
// It owns the keys: section of the configuration, the files, and the rotation of keys
// that the gateway generated itself. It does not own what is signed. It may import
// internal/secret and internal/durable only.
package keys
