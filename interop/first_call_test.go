package interop_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// firstCallPage shows how the official SDKs call an agent at the gateway.
const firstCallPage = "../docs/integrations/official-sdks.md"

// TestFirstCallPage: the page has what the programs run.
func TestFirstCallPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(firstCallPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"python/first_call.py", "js/first-call.mjs", "first_call_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?ms)^(?:#|//) docs: [^\n]*\n(.*?)^(?:#|//) end$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s has no part for the page", name)
		}
		shown := strings.ReplaceAll(string(found[1]), "a2a-v1/", "@a2a-js/sdk/") // as it is called where it is the only one
		if !strings.Contains(string(page), "\n"+shown+"```") {
			t.Errorf("%s does not have what is between `docs:` and `end` in %s", firstCallPage, name)
		}
	}
}

// TestFirstCalls: the programs of the page call an agent with an API key, and are answered.
func TestFirstCalls(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	g, key := credentialGateway(t, issuer.URL)
	base := g.base("robots") + "/"
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		if err := firstCall(t.Context(), base, key); err != nil {
			t.Error(err)
		}
		if err := firstCall(t.Context(), base, "no key"); err == nil {
			t.Error("a key that is none was as good")
		}
	})
	for name, command := range map[string][]string{
		"python": {"python/.venv-v1/bin/python", "python/first_call.py"}, "js": {"node", "js/first-call.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lacking := missing(append(command, "js/node_modules/a2a-v1/package.json")); lacking != "" {
				if requireAll() {
					t.Fatalf("it needs %s; run interop/setup", lacking)
				}
				t.Skipf("it needs %s; run interop/setup", lacking)
			}
			said, err := exec.CommandContext(t.Context(), command[0], append(command[1:], base, key)...).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "COMPLETED") && !strings.Contains(string(said), "hello") {
				t.Errorf("%v: %s", err, said)
			}
			said, err = exec.CommandContext(t.Context(), command[0], append(command[1:], base, "no key")...).CombinedOutput()
			if err == nil {
				t.Errorf("a key that is none was as good: %s", said)
			}
		})
	}
}

// docs: the client
// keyed sends an API key with every request.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func firstCall(ctx context.Context, url, key string) error {
	hc := &http.Client{Transport: keyed(key)}
	card, err := agentcard.NewResolver(hc).Resolve(ctx, url)
	if err != nil {
		return err
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithJSONRPCTransport(hc))
	if err != nil {
		return err
	}
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"))
	answer, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: message})
	fmt.Println(answer)
	return err
}

// end
