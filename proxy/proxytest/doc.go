// Package proxytest is a reverse proxy for the tests of package proxy and of its stages: a gateway
// that serves HTTP, a fake A2A agent behind it, and clients in front of it.
//
// A test of a stage is an external test beside the stage (package session_test), and sees what
// clients and agents see: what the agent was sent, what the client got, what is on record.
//
//	func TestA01_SomebodyElsesTask(t *testing.T) {
//		t.Parallel()
//		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Level = "debug" })
//		w.Own("alice", "t1", "c1") // the agent makes a task for alice
//		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
//			proxytest.Respond(rw, r, `{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`)
//		})
//		got := w.Call("bob", "GetTask", `{"id":"t1"}`)
//		proxytest.WantStatus(t, "bob asks", got, 200) // JSON-RPC has its errors in the body
//		w.Agent.Silent(t, "bob asks")                  // the gateway answered by itself
//	}
//
// The parts are these:
//
//   - [NewGateway] starts a [Gateway] that is configured by functions on a [Setup]. Some
//     configurations have names: [WithTied], [WithRelay], [WithStreams], [WithExtensions] and
//     others. [NewGatewayFor] gives the agent another card.
//   - [Agent] keeps each [Request] that it gets and answers as it is told by Agent.Answers:
//     [Agreeable], the first, answers JSON-RPC and HTTP+JSON, [Fluent] every version and binding.
//     [Worker] has a task that goes on as the test says, [OldAgent] is an agent of A2A 0.1.
//   - Callers are known by names: alice and bob may do everything, mallory nothing. Gateway.Call
//     makes a JSON-RPC call of 1.0 for one of them, Gateway.Do any HTTP request, Gateway.Raw sends
//     bytes that no HTTP client would.
//   - There are seven ways to speak A2A, [Sides]: versions 0.1, 0.3 and 1.0 over JSON-RPC,
//     HTTP+JSON and gRPC. Gateway.Speak makes an [Ask] in the words of one of them and gives a
//     [Reply]; [Words] writes tasks, messages and events in them, for callers and agents.
//   - [Listener] is a client of a stream that reads one event at a time.
//   - Gateway.Audited, Gateway.RecordOf and Gateway.Metric read what the operator has of a call.
//
// No helper waits for a fixed time: [Eventually] asks again and again until something is so, and
// fails the test after [Patience]. Every test package hands its tests to [Main], which looks for goroutines that
// outlive them.
package proxytest
