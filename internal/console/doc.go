// Package console is the admin API: what the operator of a running gateway sees of it
// and changes in it, on a listener of its own.
//
// It owns the `admin:` section, the listener, who may come in and the routes. It does not
// own what it shows: each part of the gateway stands behind an interface here. A route is
// a row of one table, exact, and says whether it changes something; every change is an
// event of the audit log before it is made. No answer holds a secret. It may import lower
// floors only.
package console
