package secret

// JSON is a value of any kind, written as YAML in the configuration and kept as JSON.
type JSON []byte
