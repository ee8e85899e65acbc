// Package process is the gateway as a whole in the admin API: how it stands, the configuration
// that it runs with, and the runtime's profiles.
//
// It owns these screens and what they ask of the gateway. It reloads nothing itself.
package process
