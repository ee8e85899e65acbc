package signature

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// publisher serves a JWK set, and counts who asks.
type publisher struct {
	*httptest.Server

	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func publish(t testing.TB, secure bool, keys ...string) *publisher {
	t.Helper()
	p := &publisher{}
	p.say(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, strings.Join(keys, ","))
	})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		(*p.answer.Load())(w, r)
	})
	if secure {
		p.Server = httptest.NewTLSServer(h)
	} else {
		p.Server = httptest.NewServer(h)
	}
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) say(f http.HandlerFunc) { p.answer.Store(&f) }

// ca is a file with the publisher's certificate.
func (p *publisher) ca(t testing.TB) string {
	t.Helper()
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})))
}

// clock is the time that a verifier has.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func timed(t testing.TB, trust Trust, c *clock) *Verifier {
	t.Helper()
	if err := trust.Validate(); err != nil {
		t.Fatal(err)
	}
	v, err := New(trust, Options{Now: c.time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// cardOf is a card that a key has signed.
func cardOf(t testing.TB, k signingKey, more string) []byte {
	t.Helper()
	header := `{"alg":"ES256","kid":"` + k.kid + `"` + more + `}`
	return signed(t, plainCard, k.sign(t, header, canonical(t, plainCard, AsReceived)))
}

// TestL25_UnknownKidsDoNotHammer: however many made-up kids come, and however many key sets
// cards name, each set is asked twice in half a minute at most.
func TestL25_UnknownKidsDoNotHammer(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	p, c := publish(t, false, k.jwk(t, "")), newClock()
	v := timed(t, Trust{JWKS: secret.URL(p.URL)}, c)
	for i := range 50 {
		made := newSigningKey(t, "ES256", fmt.Sprint("made-up-", i))
		if _, err := v.Verify(t.Context(), cardOf(t, made, "")); err == nil {
			t.Fatal("a stranger's signature holds")
		}
		if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err != nil {
			t.Fatal(err)
		}
		c.pass(100 * time.Millisecond)
	}
	if n := p.asked.Load(); n > 2 {
		t.Errorf("asked %d times in 5s", n)
	}
	c.pass(time.Minute)
	if _, err := v.Verify(t.Context(), cardOf(t, newSigningKey(t, "ES256", "x"), "")); !errors.Is(err, ErrUntrusted) {
		t.Errorf("got %v", err)
	}
}

// TestRotation: a new key is found at once, even right after the set was fetched, and one
// that was withdrawn is void when the set has had its time.
func TestRotation(t *testing.T) {
	t.Parallel()
	first, second := newSigningKey(t, "ES256", "k1"), newSigningKey(t, "ES256", "k2")
	p, c := publish(t, false, first.jwk(t, "")), newClock()
	v := timed(t, Trust{JWKS: secret.URL(p.URL)}, c)
	check := func(k signingKey, want error) {
		t.Helper()
		if _, err := v.Verify(t.Context(), cardOf(t, k, "")); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", k.kid, err, want)
		}
	}
	check(first, nil)
	next := second.jwk(t, "")
	p.say(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, next)
	})
	c.pass(time.Second)
	check(second, nil)
	c.pass(time.Second)
	check(first, ErrUnavailable) // perhaps it is back; that is asked again after a while
	c.pass(31 * time.Second)
	check(first, ErrUntrusted)
	asked := p.asked.Load()
	check(second, nil)
	if p.asked.Load() != asked {
		t.Error("a known key was asked for")
	}
	c.pass(61 * time.Second)
	check(second, nil)
	if p.asked.Load() == asked {
		t.Error("the set is never asked for again")
	}
}

// TestOutage: known keys go on for a day, strangers' are not decided about, and the server
// is not asked by everybody.
func TestOutage(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	p, c := publish(t, false, k.jwk(t, "")), newClock()
	v := timed(t, Trust{JWKS: secret.URL(p.URL)}, c)
	if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err != nil {
		t.Fatal(err)
	}
	p.say(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	c.pass(23 * time.Hour)
	if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err != nil {
		t.Errorf("after 23h: %v", err)
	}
	if _, err := v.Verify(t.Context(), cardOf(t, newSigningKey(t, "ES256", "x"), "")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a stranger: %v", err)
	}
	c.pass(2 * time.Hour)
	if _, err := v.Verify(t.Context(), cardOf(t, k, "")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after 25h: %v", err)
	}
	asked := p.asked.Load()
	for range 20 {
		_, _ = v.Verify(t.Context(), cardOf(t, k, ""))
	}
	if n := p.asked.Load() - asked; n > 1 {
		t.Errorf("asked %d times", n)
	}
	tellAgain := k.jwk(t, "")
	p.say(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"keys":[%s]}`, tellAgain) })
	c.pass(time.Minute)
	if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err != nil {
		t.Errorf("back again: %v", err)
	}
}

// TestOddKeys: a key that cannot be used does not take the others away, in a file or behind a
// URL, and is told of once; of two keys with one kid, either may have signed.
func TestOddKeys(t *testing.T) {
	t.Parallel()
	k, second := newSigningKey(t, "ES256", "k1"), newSigningKey(t, "ES256", "k1")
	odd := `{"kty":"RSA","kid":"x"},{"kty":"oct","kid":"y","k":"c2VjcmV0"},{"kid":"a","kid":"b"},{"kty":"RSA","use":"enc"}`
	doc := fmt.Sprintf(`{"keys":[%s,%s,%s,%s]}`, odd, k.jwk(t, ""), k.jwk(t, ""), second.jwk(t, ""))
	var mu sync.Mutex
	told := map[jws.Reason]int{}
	skipped := func(source string, s jws.Skipped) {
		mu.Lock()
		defer mu.Unlock()
		told[s.Reason]++
		if source == "" || strings.Contains(s.String(), "c2VjcmV0") {
			t.Errorf("%s: %s", source, s)
		}
	}
	p, c := publish(t, false), newClock()
	p.say(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(doc)) })
	for name, trust := range map[string]Trust{"file": {Keys: []string{file(t, doc)}}, "URL": {JWKS: secret.URL(p.URL)}} {
		clear(told)
		v, err := New(trust, Options{Now: c.time, Skipped: skipped})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		for range 2 {
			for _, signer := range []signingKey{k, second} {
				if _, err := v.Verify(t.Context(), cardOf(t, signer, "")); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			c.pass(2 * time.Hour) // the set is fetched anew
		}
		if len(told) != 3 || told["malformed"] != 2 || told["secret"] != 1 || told["other"] != 1 {
			t.Errorf("%s: told of %v", name, told)
		}
	}
}

// TestBadSets: what is not a set of public keys leaves nothing decided, and the next look
// at a good one does.
func TestBadSets(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	good := `{"keys":[` + k.jwk(t, "") + `]}`
	for name, answer := range map[string]http.HandlerFunc{
		"HTML":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"empty": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"symmetric": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","k":"AAAA"}]}`))
		},
		"private": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Replace(good, `"kid"`, `"d":"AA","kid"`, 1)))
		},
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(good + strings.Repeat(" ", maxDocument)))
		},
		"many keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[` + strings.Repeat(`{"kty":"x"},`, 51) + `{"kty":"x"}]}`))
		},
		"keys twice": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[],"keys":[]}`)) },
		"one key":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(k.jwk(t, ""))) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/good" {
				_, _ = w.Write([]byte(good))
				return
			}
			http.Redirect(w, r, "/good", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, c := publish(t, false), newClock()
			p.say(answer)
			v := timed(t, Trust{JWKS: secret.URL(p.URL)}, c)
			if _, err := v.Verify(t.Context(), cardOf(t, k, "")); !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			p.say(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(good)) })
			c.pass(2 * time.Second) // the first failure is followed by another try soon
			if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err != nil {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// TestA15_JKUElsewhere: a set that a signature names is fetched from the places that are
// listed and from no other, in whatever way it is written.
func TestA15_JKUElsewhere(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	p := publish(t, true, k.jwk(t, ""))
	elsewhere := publish(t, true, k.jwk(t, ""))
	port := p.URL[strings.LastIndexByte(p.URL, ':'):]
	for name, test := range map[string]struct {
		place, jku string
		good       bool
	}{
		"host":                    {"127.0.0.1", p.URL + "/any.json", true},
		"URL":                     {p.URL + "/a/jwks.json", p.URL + "/a/jwks.json", true},
		"below a URL":             {p.URL + "/a/", p.URL + "/a/b/jwks.json", true},
		"another path":            {p.URL + "/a/jwks.json", p.URL + "/a/jwks.json2", false},
		"a query":                 {p.URL + "/a/jwks.json", p.URL + "/a/jwks.json?x", false},
		"up again":                {p.URL + "/a/", p.URL + "/a/../b/jwks.json", false},
		"up again, escaped":       {p.URL + "/a/", p.URL + "/a/%2e%2e/b/jwks.json", false},
		"not below":               {p.URL + "/a/", p.URL + "/ab/jwks.json", false},
		"another port":            {p.URL + "/", elsewhere.URL + "/", false},
		"another host":            {"keys.example.com", p.URL + "/", false},
		"user information":        {p.URL + "/", "https://127.0.0.1" + port + "@evil.test/", false},
		"user before the host":    {p.URL + "/", "https://evil@127.0.0.1" + port + "/", false},
		"plaintext":               {"127.0.0.1", "http://127.0.0.1" + port + "/", false},
		"host as another number":  {"127.0.0.1", "https://2130706433" + port + "/", false},
		"host in capitals":        {"keys.example.com", "https://KEYS.EXAMPLE.COM.evil.test/", false},
		"backslash":               {p.URL + "/", `https://127.0.0.1` + port + `\\@evil.test/`, false},
		"file":                    {"127.0.0.1", "file:///etc/passwd", false},
		"metadata of the machine": {"169.254.169.254", "https://169.254.169.254/latest", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trust := Trust{JKU: []string{test.place}, CA: p.ca(t), AllowPrivateNetworks: true}
			v, err := New(trust, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			verdict, err := v.Verify(t.Context(), cardOf(t, k, `,"jku":"`+test.jku+`"`))
			switch {
			case test.good && (err != nil || verdict.Holds().Source != test.jku):
				t.Errorf("got %v", err)
			case !test.good && !(errors.Is(err, ErrUntrusted) && errors.Is(verdict.Signatures[0].Err, errJKU)) &&
				!errors.Is(err, ErrUnavailable): // where it was only at the dial that it was refused
				t.Errorf("got %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if elsewhere.asked.Load() != 0 {
			t.Error("another place was asked")
		}
	})
	private, err := New(Trust{JKU: []string{"127.0.0.1"}, CA: p.ca(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := private.Verify(t.Context(), cardOf(t, k, `,"jku":"`+p.URL+`/"`)); err == nil {
		t.Error("a private address was asked that is not allowed")
	}
}

// TestL25_ManySetsAreNamed: a card cannot have the gateway ask for many sets, nor cards one
// after the other keep more than a few.
func TestL25_ManySetsAreNamed(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	p, c := publish(t, true), newClock()
	p.say(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	v := timed(t, Trust{JKU: []string{p.URL + "/"}, CA: p.ca(t), AllowPrivateNetworks: true}, c)
	payload := canonical(t, plainCard, AsReceived)
	for round := range 20 {
		var list []entry
		for i := range maxSignatures {
			jku := fmt.Sprintf("%s/%d/%d", p.URL, round, i)
			list = append(list, k.sign(t, `{"alg":"ES256","kid":"k1","jku":"`+jku+`"}`, payload))
		}
		if _, err := v.Verify(t.Context(), signed(t, plainCard, list...)); err == nil {
			t.Fatal("it holds")
		}
	}
	if n := p.asked.Load(); n > maxRemotes {
		t.Errorf("asked %d times", n)
	}
	c.pass(2 * idleFor)
	before := p.asked.Load()
	if _, err := v.Verify(t.Context(), cardOf(t, k, `,"jku":"`+p.URL+`/new"`)); err == nil || p.asked.Load() == before {
		t.Errorf("what nobody asks for is never forgotten: %v", err)
	}
	many := make([]entry, maxSignatures+1)
	if _, err := v.Verify(t.Context(), signed(t, plainCard, many...)); !errors.Is(err, ErrMalformed) {
		t.Errorf("too many signatures: %v", err)
	}
}

// TestGivesUp: who asks may leave, and others who wait for the same set do not suffer.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	k := newSigningKey(t, "ES256", "k1")
	key := k.jwk(t, "")
	held := make(chan struct{})
	p := publish(t, false)
	p.say(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-held:
			_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, key)
		case <-r.Context().Done():
		}
	})
	v := newVerifier(t, Trust{JWKS: secret.URL(p.URL)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, cardOf(t, k, "")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	close(held)
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err := v.Verify(t.Context(), cardOf(t, k, "")); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
