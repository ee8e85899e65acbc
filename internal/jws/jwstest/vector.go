package jwstest

import (
	_ "embed" // the table
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// vectors is the table.
//
//go:embed testdata/vectors.json
var vectors []byte

// Vector is a signature and what verifiers say of it. What is not said is as in a good one.
type Vector struct {
	Rule string `json:"rule"` // of which it is a case
	Name string `json:"name"`

	// Header and Claims are members of the protected header and of the payload; null leaves
	// one out. A string may stand for a value: "@jwk:NAME" for a public key, "@now-60" for
	// a time in seconds, "@long:N" for a string of N bytes, "@deep:N" for so many lists in
	// lists, "@" and a word for what Base has under that word.
	Header map[string]jsontext.Value `json:"header,omitzero"`
	Claims map[string]jsontext.Value `json:"claims,omitzero"`

	// Front and Back are written before and behind the header's members, as they are;
	// FrontClaims before the payload's.
	Front       string `json:"front,omitzero"`
	Back        string `json:"back,omitzero"`
	FrontClaims string `json:"frontClaims,omitzero"`

	Key  string   `json:"key,omitzero"`  // whose private key signs; default "ec"
	Make []string `json:"make,omitzero"` // what is done to it then, see spoil

	// Token, Proof and Card are what each verifier says: "ok", or why not. One of which
	// nothing is said does not apply: cards have no claims, proofs name no key.
	Token string `json:"token,omitzero"`
	Proof string `json:"proof,omitzero"`
	Card  string `json:"card,omitzero"`
}

// Vectors reads the table.
func Vectors() (all []Vector, err error) {
	if err := json.Unmarshal(vectors, &all, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	for i := range all {
		v := &all[i]
		if v.Key == "" {
			v.Key = "ec"
		}
		if v.Rule == "" || v.Name == "" || v.Token+v.Proof+v.Card == "" {
			return nil, fmt.Errorf("vector %d, %q: it is of no rule, nameless, or for nobody", i, v.Name)
		}
	}
	return all, nil
}
