// Package push relays the notifications that agents send to webhooks.
//
// An agent never learns a client's webhook: it is given an address of the gateway in
// its place, and what it posts there is checked, put into the form of the client's
// version, queued, and delivered to the client in the gateway's name. The two halves
// meet in the queue alone. The front half keeps what clients registered and receives
// from agents; the back half, a Worker, takes what is due and delivers it at least once,
// the notifications of one task and config in their order, until the target has taken
// them or they are given up.
//
// It owns the `push:` section, deliveries, their headers, signatures, back-off and
// limits per target. It does not decide who may register what: the proxy has asked. It
// may import internal/egress, by which alone it reaches targets, internal/state, which
// keeps the queue, internal/wire with its translations, and below.
package push
