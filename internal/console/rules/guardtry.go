package rules

import (
	"net/http"
	"reflect"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// GuardTryScreen has guards look at a text. It takes an operator: services are asked about what is typed.
func GuardTryScreen(policy Policy) api.Screen {
	return api.Screen{
		Title: "Try a text",
		Operations: []api.Operation{{
			Method: http.MethodPost, Path: "/api/v1/guards/try", ID: "try-guards", Tag: "policy", Role: api.Operator,
			Summary: "Show what the guards in force make of a text or a message, without a call. Guards that ask a service ask it, unless offline is true. The gateway keeps nothing of the text",
			In:      reflect.TypeFor[verdict.GuardTrial](), Out: reflect.TypeFor[verdict.GuardTried](),
			Errors: []api.Code{api.InvalidQuestion},
			Answer: func(c *api.Call) (any, error) {
				var t verdict.GuardTrial
				if err := c.Decode(&t, api.InvalidQuestion); err != nil {
					return nil, err
				}
				return policy.TryGuards(c.Context(), &t)
			},
		}},
	}
}
