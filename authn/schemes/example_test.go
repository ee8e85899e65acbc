package schemes_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
)

// A key is made, and a request that carries it is authenticated.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "keys.yaml")
	keys, err := apikey.Open(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, key, err := keys.Create(apikey.Spec{ID: "alice", Groups: []string{"analysts"},
		Agents: []string{"billing"}})
	if err != nil {
		fmt.Println(err)
		return
	}

	chain, err := schemes.New(context.Background(), schemes.Config{APIKeys: &apikey.Config{File: file}},
		schemes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer chain.Close()
	r := httptest.NewRequest("POST", "/agents/billing", nil)
	_, err = chain.Authenticate(r)
	fmt.Println(err, chain.Challenges(authn.Demand{Realm: "gateway", Err: err}))
	r.Header.Set("X-API-Key", key)
	p, err := chain.Authenticate(r)
	fmt.Println(p, p.Groups, p.MayUse("billing"), p.MayUse("weather"), err)
	// Output:
	// no credentials [ApiKey realm="gateway", header="X-Api-Key"]
	// alice@api-keys [analysts] true false <nil>
}
