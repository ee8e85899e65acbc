// Package provided has the extensions that the gateway implements for agents that
// lack them, one file each.
package provided

import "github.com/a2a-gateway/a2a-gateway/ext"

// Providers returns every provider by its URI.
func Providers() map[string]ext.Provider { return nil }
