//go:build linux

package cmd

import (
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Flags of Cilium's modes, and the modes that know them.
const (
	flagPreAllocate = "pre-allocate"
	flagMinAllocate = "min-allocate"
	flagMaxAllocate = "max-allocate"
	flagAbove       = "max-above-watermark"
	flagExpiration  = "ipam-expiration"
)

var modesOf = map[string][]string{flagPreAllocate: {ipamMultiPool, ipamCRD, ipamENI}, flagMinAllocate: {ipamCRD, ipamENI}, flagMaxAllocate: {ipamCRD, ipamENI},
	flagAbove: {ipamCRD, ipamENI}, flagExpiration: {ipamCRD, ipamENI}}

// marksMax is the most that a watermark may be: a CiliumNode holds no more.
const marksMax = 1 << 24

func (f *clusterFlags) addMarks(flags *pflag.FlagSet) {
	flags.IntVar(&f.marks.PreAllocate, flagPreAllocate, preAllocate, "addresses that --ipam multi-pool, crd and eni keep ready beside those in use; of crd and eni 0 is 8")
	flags.IntVar(&f.marks.MinAllocate, flagMinAllocate, 0, "addresses that the node has at least, with --ipam crd and eni; 0: no floor")
	flags.IntVar(&f.marks.MaxAllocate, flagMaxAllocate, 0, "addresses that the node has at most, with --ipam crd and eni; 0: no limit")
	flags.IntVar(&f.marks.MaxAboveWatermark, flagAbove, 0, "addresses asked for beyond what is needed, to save calls, with --ipam crd and eni")
	flags.DurationVar(&f.expiration, flagExpiration, 0, "time that an address waits whose plugin got no answer, with --ipam crd and eni; 0: 10m")
}

// checkMarks refuses watermarks that no CiliumNode can hold.
func (f *clusterFlags) checkMarks() error {
	for _, mark := range [...]struct {
		name  string
		value int
	}{{flagPreAllocate, f.marks.PreAllocate}, {flagMinAllocate, f.marks.MinAllocate}, {flagMaxAllocate, f.marks.MaxAllocate}, {flagAbove, f.marks.MaxAboveWatermark}} {
		if mark.value < 0 || mark.value > marksMax {
			return cli.Usagef("agent: --%s %d: want 0 to %d", mark.name, mark.value, marksMax)
		}
	}
	if f.marks.MaxAllocate > 0 && f.marks.MaxAllocate < f.marks.MinAllocate {
		return cli.Usagef("agent: --%s %d is less than --%s %d", flagMaxAllocate, f.marks.MaxAllocate, flagMinAllocate, f.marks.MinAllocate)
	}
	if f.expiration < 0 {
		return cli.Usagef("agent: --%s %s: want 0 or more", flagExpiration, f.expiration)
	}
	return nil
}
