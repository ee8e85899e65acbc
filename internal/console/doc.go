// Package console is the admin API: what the operator of a running gateway sees of it
// and changes in it, on a listener of its own.
//
// It owns the `admin:` section, the listener, who may come in, and the table of screens. It
// does not own what the screens show: each has a package below, with its operations and the
// interface behind which a part of the gateway stands. An operation is a row, exact, and says
// whether it changes something; every change is an event of the audit log before it is made.
// No answer holds a secret. It may import lower floors only.
package console
