package jwstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// spoilt is a signature in the making.
type spoilt struct {
	vector          *Vector
	header, payload []byte
	input           string // what is signed
	signature       []byte
}

// compact signs, does to the signature what the vector says, and writes it down.
func (s *spoilt) compact() (string, error) {
	s.input = encode(s.header) + "." + encode(s.payload)
	if err := s.sign(); err != nil {
		return "", err
	}
	var written []string
	for _, how := range s.vector.Make {
		if !s.spoil(how) {
			written = append(written, how)
		}
	}
	token := s.input + "." + encode(s.signature)
	for _, how := range written {
		var ok bool
		if token, ok = rewrite(how, token); !ok {
			return "", fmt.Errorf("%s: nobody knows how to make it %q", s.vector.Name, how)
		}
	}
	return token, nil
}

// sign is what RFC 7518 has for the algorithm, by the kind of the key: an algorithm that
// is not for it makes no difference.
func (s *spoilt) sign() (err error) {
	var h struct{ Alg string }
	_ = json.Unmarshal(s.header, &h) // what is no header is signed as well
	sum := sha256.Sum256([]byte(s.input))
	switch k := Key(s.vector.Key).(type) {
	case *ecdsa.PrivateKey:
		digest := sum[:]
		if h.Alg == "ES384" {
			long := sha512.Sum384([]byte(s.input))
			digest = long[:]
		}
		r, t, failed := ecdsa.Sign(rand.Reader, k, digest)
		if err = failed; err == nil {
			s.signature = pair(k, r, t)
		}
	case *rsa.PrivateKey:
		if s.made("PSS") || h.Alg == "PS256" && !s.made("PKCS1") {
			salt := rsa.PSSSaltLengthEqualsHash
			if s.made("long salt") {
				salt = 64
			}
			s.signature, err = rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: salt})
		} else {
			s.signature, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
	case ed25519.PrivateKey:
		s.signature = ed25519.Sign(k, []byte(s.input))
	default:
		err = fmt.Errorf("no key %q", s.vector.Key)
	}
	return err
}

func (s *spoilt) made(how string) bool { return slices.Contains(s.vector.Make, how) }

func pair(k *ecdsa.PrivateKey, r, s *big.Int) []byte {
	size := (k.Params().BitSize + 7) / 8
	return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
}

// spoil does something to the bytes of the signature.
func (s *spoilt) spoil(how string) bool {
	half := len(s.signature) / 2
	k, _ := Key(s.vector.Key).(*ecdsa.PrivateKey)
	switch how {
	case "PSS", "PKCS1", "long salt": // was signed so
	case "empty":
		s.signature = nil
	case "zero":
		clear(s.signature)
	case "r zero":
		clear(s.signature[:half])
	case "s zero":
		clear(s.signature[half:])
	case "r the order":
		k.Params().N.FillBytes(s.signature[:half])
	case "s the order":
		k.Params().N.FillBytes(s.signature[half:])
	case "s all ones":
		copy(s.signature[half:], strings.Repeat("\xff", half))
	case "s negated": // what anybody can make of it, and what holds as well
		t := new(big.Int).SetBytes(s.signature[half:])
		t.Sub(k.Params().N, t).FillBytes(s.signature[half:])
	case "overlong": // a zero before each number
		s.signature = append(append(append([]byte{0}, s.signature[:half]...), 0), s.signature[half:]...)
	case "cut":
		s.signature = s.signature[:len(s.signature)-1]
	case "twice":
		s.signature = append(s.signature, s.signature...)
	case "ASN.1":
		sum := sha256.Sum256([]byte(s.input))
		s.signature, _ = ecdsa.SignASN1(rand.Reader, k, sum[:])
	case "neutral": // R is the neutral point, and S nothing: holds for keys of small order
		s.signature = append([]byte{1}, make([]byte, 63)...)
	case "of another payload":
		other := spoilt{vector: &Vector{Key: s.vector.Key}, header: s.header, payload: append([]byte(" "), s.payload...)}
		_, _ = other.compact()
		s.signature = other.signature
	default:
		return s.hmac(how)
	}
	return true
}

// hmac signs with the public key as if it were a secret.
func (s *spoilt) hmac(how string) bool {
	public := Key(s.vector.Key).Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	secret, ok := map[string][]byte{
		"HMAC by PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		"HMAC by DER": der, "HMAC by JWK": publicKey(s.vector.Key), "HMAC by nothing": {},
		"HMAC by a secret": []byte("secret-secret-secret-secret-1234"),
	}[how]
	if !ok || err != nil {
		return false
	}
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(s.input))
	s.signature = m.Sum(nil)
	return true
}

// rewrite writes a signature down in another way.
func rewrite(how, token string) (string, bool) {
	parts := strings.Split(token, ".")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	switch how {
	case "padded":
		parts[2] += "=="
	case "header padded":
		parts[0] += "="
	case "payload padded":
		parts[1] += "="
	case "standard alphabet":
		parts[2] = strings.NewReplacer("-", "+", "_", "/").Replace(parts[2][:len(parts[2])-4]) + "+/+A"
	case "unused bits": // 64 bytes leave four of the last character's
		last := strings.IndexByte(alphabet, token[len(token)-1])
		parts[2] = parts[2][:len(parts[2])-1] + alphabet[last|1:last|1+1]
	case "line break":
		parts[2] = parts[2][:10] + "\n" + parts[2][10:]
	case "header with a blank":
		parts[0] = parts[0][:4] + " " + parts[0][4:]
	case "of two parts":
		parts = parts[:2]
	case "of four parts":
		parts = append(parts, "AA")
	case "of five parts":
		parts = []string{parts[0], "AA", "AA", parts[1], parts[2]}
	case "JSON":
		return fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, parts[1], parts[0], parts[2]), true
	default:
		return "", false
	}
	return strings.Join(parts, "."), true
}
