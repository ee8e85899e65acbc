// Package detect finds secrets and personal data (PII) in texts, by their form alone and without
// asking anybody what they are. The capture of the audit log and the guards of the policy share it.
//
// What there is to be found are kinds (kind.go), each a row of one table: its name, what it is,
// and the function that finds it. A Set is some of them, made ready:
//
//	"card 4111 1111 1111 1111, mail bob@example.com"
//	{5 24 card} {31 46 email}
//
// One pass over a text tells which kinds can be in it at all (traits.go), so that an ordinary
// sentence costs little more than its length. Numbers that end in check digits are taken only where
// these are right; those whose check one number in ten passes are taken beside a word that says
// what they are. Names of persons, addresses and what stands in pictures are not found.
//
// It is pure: it keeps nothing and does no I/O. It may import card/lint, whose forms of credentials
// it shares.
package detect
