package ipam_test

import (
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: an owner's text names it and nothing else. Method: a table of what is and is not an owner, then fuzzing.
func TestOwners(t *testing.T) {
	for text, ok := range map[string]bool{
		"k8s/c0ffee/eth0": true, "-/-/-": true,
		"": false, "k8s/c0ffee": false, "k8s/c0ffee/eth0/x": false, "/c0ffee/eth0": false, "k8s//eth0": false, "k8s/c0ffee/": false,
		"k8s/c0 ffee/eth0": false, "k8s/c0ffee/eth\t0": false, "k8s/c0ffee/eth0\n": false,
	} {
		o, err := ipam.ParseOwner(text)
		if (err == nil) != ok || ok && (o.String() != text || !o.Valid()) {
			t.Errorf("%q became %+v %v", text, o, err)
		}
	}
	if (ipam.Owner{}).Valid() {
		t.Error("the zero owner is valid")
	}
}

func FuzzParseOwner(f *testing.F) {
	f.Add("k8s/c0ffee/eth0")
	f.Add("a/b/c/d")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ipam.ParseOwner(text)
		if err != nil {
			return
		}
		if again, err := ipam.ParseOwner(o.String()); err != nil || again != o || o.String() != text {
			t.Fatalf("%q is %+v and then %+v %v", text, o, again, err)
		}
	})
}

func ExampleRecord() {
	r, err := ipam.ParseRecord("lease k8s/c0ffee/eth0 10.1.1.2 10.1.1.0/24 1700000000000000000")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Owner.ContainerID, r.Addr, r.At.Year())
	// Output: c0ffee 10.1.1.2 2023
}
