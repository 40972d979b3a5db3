package cmd

import (
	"fmt"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// unused is how many unused addresses a node has at least, or none: a number, of which 0 stands for Cilium's default
// where Cilium takes it so, or cilium.PreAllocateNone. It is a flag's value and a file's.
type unused int

// unusedMax bounds it, as a file's other numbers.
const unusedMax = 65536

// String implements pflag.Value.
func (u *unused) String() string {
	if *u == cilium.PreAllocateNone {
		return "none"
	}
	return strconv.Itoa(int(*u))
}

// Set implements pflag.Value.
func (u *unused) Set(text string) error {
	if text == "none" {
		*u = cilium.PreAllocateNone
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > unusedMax {
		return fmt.Errorf("is not none or 0 to %d", unusedMax)
	}
	*u = unused(n)
	return nil
}

// Type implements pflag.Value.
func (*unused) Type() string { return "count|none" }
