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

// InstanceTypes are the known ones in order.
func InstanceTypes() (list []string) {
	for types := range instanceTypes {
		list = append(list, types...)
	}
	slices.Sort(list)
	return list
}
