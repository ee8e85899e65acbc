package detect

import (
	"slices"
)

// The groups of kinds.
const (
	Secrets = "secrets" // credentials
	PII     = "pii"     // personal data
)

// Kind describes one kind of finding, for configurations and documents.
type Kind struct {
	Name  string // in configurations, records and the text in its place
	Group string // Secrets or PII
	What  string // in words
	Check string // what has to be right for it to be taken, "" for its form alone
}

// kind is a Kind with what finds it.
type kind struct {
	Kind
	needs need        // a text without that has none
	at    numberCheck // of kinds that are told by their digits; else nil
	find  finder      // of the others
}

// finder appends what it finds in a text.
type finder func(found []span, s string) []span

// span is a place in a text, in bytes: from begin to before end.
type span struct{ begin, end int }

// table are the kinds there are. The order matters: where two find the same, the first one's name
// stands. A private key holds base64 in which others would find something, an IBAN holds digits.
var table = slices.Concat([]kind{
	{Kind{"privateKey", Secrets, "a private key in PEM", ""}, needsKeyMark, nil, privateKeys},
	{Kind{"key", Secrets, "an API key in the form of its provider", ""}, needsRun, nil, apiKeys},
	{Kind{"token", Secrets, "a bearer or basic credential, a JSON Web Token, a password in a URL", ""}, needsCredential, nil, tokens},
	{Kind{"iban", PII, "a bank account number (IBAN)", "the country's length, ISO 7064 mod 97"}, needsDigits, nil, ibans},
	{Kind{"card", PII, "a payment card number", "the issuer's prefix and length, Luhn"}, needsDigits, nil, cards},
	{Kind{"email", PII, "an e-mail address", ""}, needsAt, nil, emails},
}, identities(), []kind{
	{Kind{"phone", PII, "a telephone number with its country code, or in North American form", "a country code, 8 to 15 digits"}, needsDigits, nil, phones},
	{Kind{"ip", PII, "an IPv4 or IPv6 address", ""}, needsAddress, nil, addresses},
})

// Kinds are those of a group, "" for all, in the order of the documentation.
func Kinds(group string) []Kind {
	var list []Kind
	for i := range table {
		if group == "" || table[i].Group == group {
			list = append(list, table[i].Kind)
		}
	}
	return list
}
