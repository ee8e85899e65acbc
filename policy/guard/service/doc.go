// Package service asks services about texts, for guards: Microsoft Presidio's analyzer, and models that
// are asked as OpenAI's moderation is (POST /v1/moderations).
//
// Each question has a time limit. A service that fails is left alone for a while (internal/breaker), no
// caller has more than a share of the connections (internal/share), and answers are remembered by a
// digest of the texts, if that is configured. What is neither a finding nor the lack of one is a
// failure, of which onFailure says what it means.
//
// It owns the two protocols and what is done when nobody answers. It does not own what becomes of
// findings (policy/guard). Nothing that a service says reaches anybody but the names of what it found.
package service
