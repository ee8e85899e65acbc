package keys

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// maxFile is far beyond any key, and keeps a wrong path from being read to its end.
const maxFile = 64 << 10

// errNoKey is what a file is about whose writer has not come to its end.
var errNoKey = errors.New("no private key in PEM")

// readFile reads the key in a file. Errors name the file and show nothing of it.
func readFile(path string) (*key, error) {
	data, err := readLimited(path)
	if err != nil {
		return nil, err
	}
	k, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read key: %s: %w", path, err)
	}
	return k, nil
}

// parse reads the one private key that a file is to hold. A certificate beside it is
// refused: the file is then more likely a listener's than one for signatures.
func parse(data []byte) (*key, error) {
	var found *key
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type == "EC PARAMETERS" {
			continue // openssl ecparam -genkey writes the curve's name first
		}
		if found != nil {
			return nil, errors.New("more than one PEM block; want one private key")
		}
		private, err := decode(block)
		if err != nil {
			return nil, err
		}
		if found, err = newKey(private); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, errNoKey
	}
	return found, nil
}

// decode reads a block of the kinds that openssl and others write.
func decode(block *pem.Block) (crypto.PrivateKey, error) {
	switch _, locked := block.Headers["DEK-Info"]; {
	case locked, block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the key is encrypted; the gateway has no passphrase for it")
	case block.Type == "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	}
	return nil, fmt.Errorf("a PEM block %.40q; want PRIVATE KEY", block.Type)
}

// encode is the PEM that parse reads back.
func encode(private crypto.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
