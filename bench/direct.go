package main

// direct is the agent itself, which speaks TLS too: what a proxy adds is added to
// this.
var direct = subject{
	name: "direct", strict: true,
	what: "no proxy: the load generator calls the agent over TLS",
	start: func(st *stage, how setup) (*running, error) {
		if how.plain {
			return &running{url: "http://" + st.agent}, nil
		}
		return &running{url: "https://" + st.agentTLS, rpc: st.agentRPCTLS}, nil
	},
}
