// Package service asks services about texts, for guards: Microsoft Presidio's analyzer, moderation models,
// Google Model Armor, guardrails of Amazon Bedrock, Azure AI Content Safety, models such as Llama Guard and
// ShieldGemma, and services of the operator's that speak the protocol of hooks.
//
// Each question has a time limit. A service that fails is left alone for a while (internal/breaker), no
// caller has more than a share of the connections (internal/share), and answers are remembered by a
// digest of the texts, if that is configured. What is neither a finding nor the lack of one is a
// failure, of which onFailure says what it means.
//
// It owns the protocols (protocol.go has a row for each), what goes in one question (passage.go), and what
// is done when nobody answers. It does not own what becomes of findings (policy/guard). Nothing that a
// service says reaches anybody but the names of what it found.
package service
