// Package discovery is service discovery: it finds out where the instances of an agent are, and
// goes on finding out.
//
// It owns the sources: a list that never changes, names in DNS, a file that somebody
// edits, and the endpoint slices of a Kubernetes service. It knows nothing of calls: who
// gets one, and whether an instance is well, is decided by whoever is told of it. A source
// that fails, or whose answer makes no sense, takes nothing away: what it said last holds.
//
// # The walk of one answer
//
// The four kinds of source answer the same question in different ways, and what they say takes
// the same way through this package:
//
//	dns (a timer)  \
//	file (an edit)  > []Instance -> canonical -> ordered -> keeper -> found([]Instance)
//	cluster (watch)/
//
// A source makes an Instance of each record, line or endpoint. canonical writes its address in
// one form, so that lists can be compared byte by byte. ordered sorts them and drops duplicates.
// The keeper decides whether the list counts, and hands it to the balancer of proxy/upstream by
// the function found, which is called only when the list differs from the one before.
//
//   - an error, an unreadable or an oversized answer: logged once per outage, OnError; the list of
//     before stays.
//   - the same list again: nothing.
//   - another list: found is called.
//   - an empty list, where some were known: counted; only the answer of number EmptyAfter in a row
//     takes the instances away.
//   - an empty list, where none were known: found is called with it at once.
//
// The asymmetry is deliberate. A DNS server that restarts answers NXDOMAIN for a moment, an
// editor truncates a file before it writes it, and a Kubernetes API server that lags shows a
// service without endpoints while its pods are replaced. In each case the instances of before
// still answer, and to drop them would turn a fault of the source into an outage of the agent.
//
// # Kubernetes
//
// The API server is spoken to over plain HTTPS with JSON, by its list and watch protocol
// (Kubernetes API concepts, "Efficient detection of changes"), because the official client
// library is large for two GET requests. A list gives the objects and a resourceVersion; a watch
// from that version on is one JSON document for each line:
//
//	GET /apis/discovery.k8s.io/v1/namespaces/a2a/endpointslices?labelSelector=kubernetes.io/service-name%3Dbilling&limit=100
//	GET …&watch=1&resourceVersion=4711&allowWatchBookmarks=true&timeoutSeconds=300
//	{"type":"MODIFIED","object":{"metadata":{"name":"billing-x7f2","resourceVersion":"4718"},…}}
//
// The gateway's service account needs the verbs list and watch on endpointslices (cluster), or on
// services (ServiceWatch), in the one namespace.
package discovery
