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
//
// # One notification
//
//	agent   POST /push/k2f… {"statusUpdate":{"taskId":"t1","status":{"state":"TASK_STATE_COMPLETED"}}}
//	        X-A2A-Notification-Token: <shown>
//	Registry.Find    the webhook behind the token, by its digest
//	Registry.First   has it come before?                     (packages notifications and forward in between)
//	Worker.Enqueue   sealed, into the queue; the agent gets 200
//	Worker.Run       takes what is due, leased for twice the time that an attempt may take
//	  begin          the target is allowed, has room and is well; else the item is put back
//	  attempt        the config is still registered and its owner may still hear of the task; then one POST
//	  settle         Done, Again (later), or Bury (given up)
//	client  POST https://hooks.example/x  webhook-id, webhook-timestamp, A2A-Notification-Signature: <JWT>
//
// # What becomes of an attempt
//
//   - 2xx: Delivered. The item: done.
//   - 410: gone. The item: buried, and the config is forgotten.
//   - any other status, a redirect, no answer: failed. The item: tried again after a pause that
//     doubles, or dead after attempts.for: a dead letter, for a person to try again or drop.
//   - the address is private, or its host is not allowed: refused. The item: buried, nothing was
//     sent.
//   - the owner may not have it any more: refused. The item: buried.
//
// At least once is the promise, not exactly once: a gateway that dies between the target's answer
// and the queue's word delivers again, under the same webhook-id. The notifications of one task
// and config stand in one line of the queue, of which only the first is due at a time, so that
// they arrive in order.
//
// # Fairness
//
// Places are shared: one owner of webhooks may have as many as are left for others, of all deliveries
// and of each target's, so that somebody whose endpoints hang waits alone. A target that fails five
// times in a row is left alone for a second, then two, up to five minutes; that is counted for
// each owner, since one path of a host says nothing of another's.
//
// # Secrets
//
// A webhook holds the client's token and credentials, and the secrets that the agent was given.
// Both lie sealed in the state, under the digest of the relay token; Webhook and Delivery print
// as whose they are, by every verb, in logs and in JSON.
//
// The package exports more than twenty names: three are sections of the configuration, and the
// others are of three users, who register webhooks (Registry), enqueue (Worker) and report (Attempt).
package push
