package proxy

import (
	"github.com/go-chi/chi/v5"

	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// newRoutes are routes that lead nowhere yet.
func newRoutes(lost record.Handler) *intake.Routes {
	return &intake.Routes{Tree: chi.NewRouter(), Lead: map[string]intake.Route{}, Rpcs: map[string]bool{}, Lost: lost}
}
