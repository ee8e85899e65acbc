package frameworks_test

// frameworks are those that are tried.
func frameworks() []framework {
	return []framework{
		{
			id: "google-adk-2", name: "google-adk", page: "google-adk", speaks: "1.0", calls: "1.0", program: python(),
			clientNotes: map[string]string{
				"through": grpcRefused, "to 0.3": grpcRefused,
			},
		},
	}
}

// grpcRefused is what clients make of the gRPC entry in the gateway's cards.
const grpcRefused = "the client refuses a card that has a gRPC interface, whose address has no scheme"
