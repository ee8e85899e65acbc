package proxy

const (
	jwksPath = "/.well-known/jwks.json"
)
