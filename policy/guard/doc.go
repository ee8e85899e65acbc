// Package guard looks at what messages and artifacts say, and reports, redacts or refuses it: secrets,
// personal data, prompt injection, links, sizes, values that break a schema, and whatever a service
// finds that is asked.
//
// The proxy hands it the texts of a document, whatever version and binding they came in, when a call
// was allowed and before its record is written:
//
//	Set.For            which guards look at this call, by the conditions that rules have
//	Selection.Inspect  what they find in a document, and what becomes of it
//	Window             what they find in the chunks of an artifact that streams
//
// What a guard looks for is its use (use.go): one descriptor says how it is configured, what it is
// for, and how it is made ready. A finding says which guard, what kind, how often and in which part,
// and never what was found.
//
// It owns what is found and what is to become of it. It does not own documents (proxy/inspect), what
// a refusal looks like (proxy/record) or what secrets look like (internal/detect). Of its own it asks
// nobody; the services are package service's.
//
// It exports more than twenty names because half of them are the types of the configuration.
package guard
