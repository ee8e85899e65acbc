package keys

// Seal encrypts what only the gateway and its replicas are to read, as page tokens and
// secrets at rest. purpose keeps the uses apart: what is sealed for one opens for no
// other. aad is not in the result and has to be the same for Unseal.
func (r *Ring) Seal(purpose string, plain, aad []byte) []byte {
	panic("not available") //nolint:forbidigo // replaced before it is used
}

// Unseal is the inverse of Seal. What was changed, or sealed for something else or by
// somebody else, is an error that says no more.
func (r *Ring) Unseal(purpose string, sealed, aad []byte) ([]byte, error) {
	panic("not available") //nolint:forbidigo // replaced before it is used
}

// Derive makes a secret of 32 bytes for one purpose, the same on every replica and
// after every restart.
func (r *Ring) Derive(purpose string) []byte {
	panic("not available") //nolint:forbidigo // replaced before it is used
}
