package screen

// Limits are the bounds of server.limits that a request is held to before anybody reads what it
// says. All must be positive.
type Limits struct {
	Target     int // bytes of the request target, path and query together
	Query      int // bytes of the query
	Parameters int // of the query
	Fields     int // lines of the header
}
