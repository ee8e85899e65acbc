// Package secret holds credentials that never show themselves, URLs that show no credential, and
// values of any kind, as a configuration writes them.
//
// It owns how these values are spelled in YAML and how they print. It does not
// own the configuration file, where a value comes from when it stands in an
// environment variable (internal/config replaces ${NAME} before decoding), or
// what a value is used for. It imports no other package of this module.
package secret
