package datastore

import (
	_ "embed" // the table of instance types
	"fmt"
	"slices"
	"strings"
)

// Limits are what an EC2 instance type can have.
type Limits struct {
	// ENIs is how many interfaces, the primary one included.
	ENIs int
	// IPv4PerENI is how many addresses an interface may have, its own one included; a delegated prefix takes the place of
	// one.
	IPv4PerENI int
}

//go:embed instance_types.txt
var instanceTypesText string

// instanceTypes reads the table: lines of interfaces, addresses and the types that have so many. It is read when
// somebody asks, so that a table that cannot be read is told of by who asks.
func instanceTypes(yield func(types []string, l Limits) bool) {
	for line := range strings.Lines(instanceTypesText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var l Limits
		if _, err := fmt.Sscan(line, &l.ENIs, &l.IPv4PerENI); err != nil {
			panic("datastore: instance_types.txt: " + line)
		}
		if !yield(strings.Fields(line)[2:], l) {
			return
		}
	}
}

// LimitsOf looks an instance type up.
func LimitsOf(instanceType string) (Limits, bool) {
	for types, l := range instanceTypes {
		if slices.Contains(types, instanceType) {
			return l, true
		}
	}
	return Limits{}, false
}

// xen are the families of instances that Xen runs, but for their metal ones.
var xen = []string{"c1", "c3", "c4", "d2", "f1", "g2", "g3", "g3s", "h1", "i2", "i3", "m1", "m2", "m3", "m4", "p2", "p3", "r3", "r4", "t1", "t2", "x1", "x1e"}

// Nitro reports whether an instance type is of AWS' Nitro system, or bare metal: EC2 delegates prefixes to no others.
func Nitro(instanceType string) bool {
	family, size, _ := strings.Cut(instanceType, ".")
	return size == "metal" || !slices.Contains(xen, family)
}

// InstanceTypes are the known ones in order.
func InstanceTypes() (list []string) {
	for types := range instanceTypes {
		list = append(list, types...)
	}
	slices.Sort(list)
	return list
}
