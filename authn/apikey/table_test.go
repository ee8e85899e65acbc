package apikey

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// manyRecords makes records of usual size, and the last one's key.
func manyRecords(n int) (records []keyRecord, last string) {
	created := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	records = make([]keyRecord, n)
	for i := range records {
		id := fmt.Sprint("service-", i)
		last = mintKey(id)
		records[i] = keyRecord{Spec: Spec{ID: id, Subject: id, Groups: []string{"analysts", "staff"},
			Scopes: []string{"billing.read"}, Agents: []string{"billing"}, Tenant: "acme", Owner: "payments",
			Created: created}, Hash: hashKey(last)}
	}
	return records, last
}

func tableOf(t testing.TB, records ...keyRecord) *keyTable {
	t.Helper()
	table, err := newKeyTable(records)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// All that a key says comes out of the compact form as it went in.
func TestCompactForm(t *testing.T) {
	t.Parallel()
	r := fullRecord()
	want := &authn.Principal{Subject: r.Subject, Issuer: "api-keys", Tenant: r.Tenant, Groups: r.Groups, Scopes: r.Scopes,
		Method: "api-key", KeyID: r.ID, Agents: r.Agents, Owner: r.Owner, Expires: r.Expires.Truncate(time.Second),
		Carrier: "X-Api-Key"}
	want.KnownBy(r.Hash)
	want.Attest(nil)
	table := tableOf(t, keyRecord{Spec: Spec{ID: "a"}, Hash: hashKey("y")}, r)
	if diff := cmp.Diff(want, table.principal(1, "X-Api-Key"), cmp.AllowUnexported(authn.Principal{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	long := make([]string, 300) // lengths of more than one byte
	for i := range long {
		long[i] = fmt.Sprintf("%0*d", i%200, i)
	}
	p := tableOf(t, keyRecord{Spec: Spec{ID: "a", Groups: long}, Hash: hashKey("y")}).principal(0, "")
	if diff := cmp.Diff(long, p.Groups); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// More keys than principals are kept: each is its own, whatever was asked before.
func TestPrincipalsOfManyKeys(t *testing.T) {
	t.Parallel()
	records, _ := manyRecords(2*maxBuilt + 3)
	table := tableOf(t, records...)
	if len(table.built) != maxBuilt {
		t.Errorf("%d principals may be kept", len(table.built))
	}
	for range 2 {
		for i := range records {
			if p := table.principal(uint32(i), "X-Api-Key"); p.KeyID != records[i].ID {
				t.Fatalf("principal of %s is %s", records[i].ID, p.KeyID)
			}
		}
	}
	if a, b := table.principal(7, "X-Api-Key"), table.principal(7, "X-Api-Key"); a != b {
		t.Error("a principal was made twice")
	}
}

// The header that a key came in belongs to the call, not to the key.
func TestCarrierOfAPIKey(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, Spec{ID: "alice"})
	c := openAPIKeys(t, &Config{File: path, Bearer: true}, Options{})
	for range 3 {
		for carrier, r := range map[string]*http.Request{"X-Api-Key": authntest.Request("X-API-Key", key), "Authorization": authntest.BearerOf(key)} {
			if p, err := c.Authenticate(r); err != nil || p.Carrier != carrier {
				t.Errorf("%v, %v, want %s", p, err, carrier)
			}
		}
	}
}

// A principal stands while its key would still make the same one.
func TestL28_StandingKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	base := Spec{ID: "alice", Subject: "alice", Groups: []string{"a"}, Scopes: []string{"s"},
		Agents: []string{"x"}, Tenant: "t", Owner: "o", Expires: now.Add(time.Hour)}
	hash := keyHash(hashKey("one"))
	p := tableOf(t, keyRecord{Spec: base, Hash: hash}).principal(0, "X-Api-Key")
	with := func(change func(*keyRecord)) []keyRecord {
		r := keyRecord{Spec: base, Hash: hash}
		change(&r)
		return []keyRecord{{Spec: Spec{ID: "other"}, Hash: hashKey("two")}, r}
	}
	for name, tt := range map[string]struct {
		change func(*keyRecord)
		want   authn.Fault
	}{
		"nothing":       {func(*keyRecord) {}, ""},
		"owner":         {func(r *keyRecord) { r.Owner = "p" }, ""},
		"longer":        {func(r *keyRecord) { r.Expires = time.Time{} }, ""},
		"rotated":       {func(r *keyRecord) { r.Expires, r.ReplacedBy = now.Add(time.Minute), "alice.2" }, ""},
		"expired":       {func(r *keyRecord) { r.Expires = now }, faultKeyExpired},
		"revoked":       {func(r *keyRecord) { r.ID = "bob" }, faultAPIKey},
		"other secret":  {func(r *keyRecord) { r.Hash = hashKey("three") }, faultAPIKey},
		"other subject": {func(r *keyRecord) { r.Subject = "bob" }, faultAPIKey},
		"other tenant":  {func(r *keyRecord) { r.Tenant = "u" }, faultAPIKey},
		"other groups":  {func(r *keyRecord) { r.Groups = nil }, faultAPIKey},
		"other scopes":  {func(r *keyRecord) { r.Scopes = []string{"s", "t"} }, faultAPIKey},
		"other agents":  {func(r *keyRecord) { r.Agents = []string{"y"} }, faultAPIKey},
		"no agents":     {func(r *keyRecord) { r.Agents = []string{} }, faultAPIKey},
		"any agent":     {func(r *keyRecord) { r.Agents = nil }, faultAPIKey},
	} {
		if got := tableOf(t, with(tt.change)...).stands(p, now); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := new(keyTable).stands(p, now); got != faultAPIKey {
		t.Errorf("no file: %q", got)
	}
}

// A hundred thousand keys, all of which have called, stay below 50 MB. Not parallel:
// it looks at the heap of the whole process.
func TestManyKeysAreSmall(t *testing.T) { //nolint:paralleltest // see above
	testenv.Long(t, "a hundred thousand keys are read")
	const n, limit = 100_000, 50 << 20
	records, _ := manyRecords(n)
	before := authntest.Heap()
	table := tableOf(t, records...)
	for i := range n {
		table.principal(uint32(i), "X-Api-Key")
	}
	grown := authntest.Heap() - before
	t.Logf("%d keys: %.1f MB", n, float64(grown)/(1<<20))
	if grown > limit {
		t.Errorf("%d keys take %d bytes, at most %d", n, grown, limit)
	}
	runtime.KeepAlive(table)
	runtime.KeepAlive(records)
}

// BenchmarkTiming is the statistic of dudect (Reparaz, Balasch, Verbauwhede 2017):
// Welch's t between the times of two kinds of bad keys, in random order. Beyond 5 either
// way, time tells one from the other. It is a figure to read on a quiet machine, and no
// test: a busy one shows anything.
func BenchmarkTiming(b *testing.B) {
	records, key := manyRecords(1000)
	table, now := tableOf(b, records...), time.Now()
	id, _ := splitKey(key)
	wrong := func(at int) string { return key[:at] + string(key[at]^1) + key[at+1:] }
	early, late := wrong(len(key)-secretLength), wrong(len(key)-1)
	unknown := mintKey(id[:len(id)-1] + "x")
	for name, pair := range map[string][2]string{"unknown id": {late, unknown}, "place of the error": {early, late}} {
		b.Run(name, func(b *testing.B) {
			var s [2]welch
			for b.Loop() {
				class := rand.IntN(2)
				start := time.Now()
				for range 8 { // one alone is near the clock's resolution
					table.verify(pair[class], now)
				}
				s[class].add(float64(time.Since(start)))
			}
			b.ReportMetric(welchT(&s[0], &s[1]), "t")
		})
	}
}

// welch is a running mean and variance. Times far beyond the mean, which interrupts
// make, are cut off.
type welch struct{ n, mean, m2 float64 }

func (w *welch) add(x float64) {
	if w.n > 100 && x > 3*w.mean {
		return
	}
	w.n++
	d := x - w.mean
	w.mean += d / w.n
	w.m2 += d * (x - w.mean)
}

// welchT is how many standard errors two means are apart.
func welchT(a, b *welch) float64 {
	spread := math.Sqrt(a.m2/(a.n-1)/a.n + b.m2/(b.n-1)/b.n)
	if spread == 0 || math.IsNaN(spread) {
		return 0
	}
	return (a.mean - b.mean) / spread
}

// A hash that was copied under another id does not make its key that one's.
func TestL28_CopiedHash(t *testing.T) {
	t.Parallel()
	key := mintKey("alice")
	table := tableOf(t, keyRecord{Spec: Spec{ID: "bob"}, Hash: hashKey(key)})
	if _, f := table.verify(key, time.Now()); f != faultAPIKey {
		t.Errorf("%q", f)
	}
}
