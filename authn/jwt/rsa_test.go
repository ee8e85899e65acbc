package jwt

import (
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
)

// emptySaltPSS is EMSA-PSS-ENCODE (RFC 8017 §9.1.1) with a salt of no bytes, which
// the standard library does not make.
func emptySaltPSS(digest []byte, bits int) []byte {
	size := (bits + 7) / 8
	h := sha256.New()
	h.Write(make([]byte, 8))
	h.Write(digest)
	sum := h.Sum(nil)
	em := make([]byte, size)
	em[size-len(sum)-2] = 1
	copy(em[size-len(sum)-1:], sum)
	em[size-1] = 0xbc
	for i, counter := 0, uint32(0); i < size-len(sum)-1; counter++ {
		mask := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte{}, sum...), counter))
		for j := 0; j < len(mask) && i < size-len(sum)-1; j++ {
			em[i] ^= mask[j]
			i++
		}
	}
	em[0] &= 0xff >> (8*size - bits)
	return em
}

// rawRSA applies the private key to an encoded message.
func rawRSA(k *rsa.PrivateKey, em []byte) []byte {
	s := new(big.Int).Exp(new(big.Int).SetBytes(em), k.D, k.N)
	return s.FillBytes(make([]byte, k.Size()))
}
