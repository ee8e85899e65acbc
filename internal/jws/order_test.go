package jws

import (
	"crypto/ed25519"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestSmallOrder: for every key of small order a signature that nobody made holds for
// some texts, and none of them is taken.
func TestSmallOrder(t *testing.T) {
	testenv.Long(t, "signatures are made until one is of a kind")
	t.Parallel()
	forged := make([]byte, ed25519.SignatureSize)
	forged[0] = 1 // R is the neutral point, and S nothing
	for _, text := range smallOrders() {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []byte{0, 0x80} {
			k := ed25519.PublicKey(append([]byte(nil), key...))
			k[31] |= sign
			holds := 0
			for i := range 1000 {
				if ed25519.Verify(k, []byte(strconv.Itoa(i)), forged) {
					holds++
				}
			}
			if holds == 0 {
				t.Errorf("%x is of no small order", []byte(k))
			}
			if _, err := whole().Take(k); err == nil {
				t.Errorf("%x is taken", []byte(k))
			}
		}
	}
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whole().Take(public); err != nil {
		t.Error(err)
	}
	if _, err := whole().Take(public[:31]); err == nil {
		t.Error("half a key is taken")
	}
}
