package keys

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestParse(t *testing.T) {
	t.Parallel()
	p256 := ec(t, elliptic.P256())
	private, err := generators[edDSA]()
	if err != nil {
		t.Fatal(err)
	}
	good, ed := pkcs8(t, p256), pkcs8(t, private)
	public, err := x509.MarshalPKIXPublicKey(p256.Public())
	parameters := block(t, "EC PARAMETERS", []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}, nil)
	locked := pem.EncodeToMemory(&pem.Block{
		Type: "EC PRIVATE KEY", Bytes: []byte{1},
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"},
	})
	for name, test := range map[string]struct {
		in   []byte
		want string // algorithm, or what the error says
	}{
		"PKCS 8":             {good, es256},
		"SEC 1":              {sec1(t, p256), es256},
		"SEC 1 of openssl":   {append(bytes.Clone(parameters), sec1(t, p256)...), es256},
		"Ed25519":            {ed, edDSA},
		"text around it":     {append([]byte("made in March\n"), append(bytes.Clone(good), "the end"...)...), es256},
		"carriage returns":   {bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), es256},
		"P-384":              {pkcs8(t, ec(t, elliptic.P384())), "a key on P-384; want P-256 or Ed25519"},
		"P-224":              {pkcs8(t, ec(t, elliptic.P224())), "a key on P-224; want P-256 or Ed25519"},
		"RSA":                {pkcs8(t, rsaKey(t)), "a key of type *rsa.PrivateKey; want P-256 or Ed25519"},
		"public key":         {block(t, "PUBLIC KEY", public, err), `a PEM block "PUBLIC KEY"; want PRIVATE KEY`},
		"certificate first":  {append(block(t, "CERTIFICATE", []byte{1}, nil), good...), `a PEM block "CERTIFICATE"`},
		"certificate after":  {append(bytes.Clone(good), block(t, "CERTIFICATE", []byte{1}, nil)...), "more than one PEM block"},
		"two keys":           {append(bytes.Clone(good), ed...), "more than one PEM block"},
		"encrypted":          {block(t, "ENCRYPTED PRIVATE KEY", []byte{1}, nil), "the key is encrypted"},
		"encrypted, old way": {locked, "the key is encrypted"},
		"broken":             {block(t, "PRIVATE KEY", []byte{0x30, 3, 2, 1, 0}, nil), "asn1"},
		"empty":              {nil, errNoKey.Error()},
		"cut":                {good[:len(good)-5], errNoKey.Error()},
		"parameters alone":   {parameters, errNoKey.Error()},
		"JWK":                {[]byte(`{"kty":"EC","crv":"P-256","d":"AAAA"}`), errNoKey.Error()},
	} {
		switch k, err := parse(test.in); {
		case err != nil && !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		case err == nil && k.public.Algorithm != test.want:
			t.Errorf("%s: a key for %s, want %s", name, k.public.Algorithm, test.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := written(t, es256)
	if _, err := readFile(path); err != nil {
		t.Error(err)
	}
	put(t, path, make([]byte, maxFile+1))
	if _, err := readFile(path); err == nil || !strings.Contains(err.Error(), path+": larger than 65536 bytes") {
		t.Errorf("large file: %v", err)
	}
	if _, err := readFile(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

// TestThumbprint computes the example of RFC 8037 appendix A.3.
func TestThumbprint(t *testing.T) {
	t.Parallel()
	var web jose.JSONWebKey
	if err := web.UnmarshalJSON([]byte(`{"kty":"OKP","crv":"Ed25519",` +
		`"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`)); err != nil {
		t.Fatal(err)
	}
	k, err := newKey(web.Key)
	if err != nil {
		t.Fatal(err)
	}
	if want := "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; k.public.KeyID != want {
		t.Errorf("kid %s, want %s", k.public.KeyID, want)
	}
	// Appendix A.4: the signature of these bytes, with a header that has alg alone.
	k.header = []byte(`{"alg":"EdDSA"`)
	const want = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc." +
		"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
	if got, err := k.jws("", []byte("Example of Ed25519 signing")); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// FuzzParse makes sure that what is taken as a key also signs, and is written and read
// back as itself.
func FuzzParse(f *testing.F) {
	p256 := ec(f, elliptic.P256())
	for _, seed := range [][]byte{
		pkcs8(f, p256), sec1(f, p256), pkcs8(f, ec(f, elliptic.P384())), nil,
		[]byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD\n-----END PRIVATE KEY-----\n"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := parse(data)
		if err != nil {
			return
		}
		token, err := k.jws("JWT", data)
		if err != nil {
			t.Fatal(err)
		}
		jws, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := jws.Verify(k.public); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("signature: %v", err)
		}
		again, err := encode(k.private)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parse(again); err != nil || !same(back, k) {
			t.Fatalf("read back: %v", err)
		}
	})
}
