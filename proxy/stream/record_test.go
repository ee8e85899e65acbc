package stream

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzRecord: what is written is read again, and nothing else does harm.
func FuzzRecord(f *testing.F) {
	f.Add("1.0 JSONRPC", "", []byte(`{"result":{}}`), byte(flagLast), []byte{})
	f.Add("", "error", []byte{}, byte(flagRest|flagMade), []byte{1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 200})
	f.Add("0.3 GRPC", "a\nb", []byte("\x00\xff"), byte(0), append(make([]byte, 10), 255, 255, 255, 255, 255, 255, 255, 255, 255, 1))
	f.Fuzz(func(t *testing.T, form, name string, data []byte, flags byte, raw []byte) {
		in := record{
			Entry: Entry{
				Name: name, Data: data, Last: flags&flagLast != 0, Rest: flags&flagRest != 0, Made: flags&flagMade != 0,
			},
			epoch: [8]byte{1, 2, flags}, form: form,
		}
		b := appendRecord(nil, in)
		out, err := readRecord(b)
		if err != nil || !bytes.Equal(out.Data, in.Data) {
			t.Fatalf("%v, %q", err, out.Data)
		}
		if out.Data = in.Data; !reflect.DeepEqual(in, out) {
			t.Fatalf("%+v, want %+v", out, in)
		}
		for i := range len(b) - len(data) {
			if _, err := readRecord(b[:i]); err == nil {
				t.Fatalf("%d of %d bytes are a record", i, len(b))
			}
		}
		if r, err := readRecord(raw); err == nil && len(r.Data)+len(r.Name)+len(r.form) > len(raw) {
			t.Fatalf("%+v of %d bytes", r, len(raw))
		}
	})
}

// TestRing holds a ring against a slice.
func TestRing(t *testing.T) {
	t.Parallel()
	var r ring
	var want []int64
	for i := range int64(1000) {
		switch {
		case i%7 == 3 && len(want) > 0:
			if got := r.drop(); got != want[0] {
				t.Fatalf("dropped %d, want %d", got, want[0])
			}
			want = want[1:]
		case i%11 == 5 && len(want) > 0:
			if got := r.retract(); got != want[len(want)-1] {
				t.Fatalf("retracted %d, want %d", got, want[len(want)-1])
			}
			want = want[:len(want)-1]
		default:
			r.push(item{cost: i})
			want = append(want, i)
		}
		for j, cost := range want {
			if r.n != len(want) || r.at(j).cost != cost {
				t.Fatalf("%d of %d is %d, want %d", j, r.n, r.at(j).cost, cost)
			}
		}
	}
}
