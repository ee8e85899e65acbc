// Package console is the admin API: what the operator of a running gateway sees of it
// and changes in it, on a listener of its own.
//
// It owns the `admin:` section, the listener, who may come in, and the table of screens. It
// does not own what the screens show: each has a package below, with its operations and the
// interface behind which a part of the gateway stands. An operation is a row, exact, and says
// whether it changes something; every change is an event of the audit log before it is made.
// No answer holds a secret. It may import lower floors only.
//
// A request passes these questions, in this order, and the first that says no answers it:
//
//	| question | where | answer otherwise |
//	| --- | --- | --- |
//	| is the head small enough? | headSize | 431 |
//	| is it for a page (/ui/…)? | page | the page, to anybody |
//	| is the host one of this listener's? | serve | 421 UNKNOWN_HOST |
//	| is it well formed? | screen.Request | 400 MALFORMED |
//	| who asks? | access.identify | 401 UNAUTHENTICATED, 429 THROTTLED |
//	| did a page of this listener send it? | own | 403 CROSS_ORIGIN, CSRF_TOKEN |
//	| is there such an operation? | find | 404 NOT_FOUND, 405 METHOD_NOT_ALLOWED |
//	| may this caller, may anybody? | permit | 403 FORBIDDEN, READ_ONLY |
//	| what is the answer? | Operation.Answer | whatever the operation says |
//
// Who asks is found out before it is said whether there is such an operation: without a
// credential all paths look alike.
//
// An example of a row: GET /api/v1/agents is in fleet.Screen, with the role viewer and the
// type of its answer. From the row follow the route, the check of the role, the entry in
// openapi.json, the types that the pages are compiled with, and the link of the navigation;
// nothing else names the path.
//
// Whoever asks proves it by one of three: the admin token or one of admin.tokens, an access
// token of the identity provider (OAuth 2.0, RFC 6750), or the cookie of a session. Only
// the cookie is sent by a browser on its own, so that only sessions need protection against
// requests which other sites make the browser send (cross-site request forgery).
package console
