package datastore

import (
	_ "embed" // the table of instance types
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Limits are what an EC2 instance type can have.
type Limits struct {
	// ENIs is how many interfaces, the primary one included.
	ENIs int
	// IPv4PerENI is how many addresses an interface may have, its own one included; a delegated prefix takes the place of one.
	IPv4PerENI int
}

//go:embed instance_types.txt
var instanceTypesText string

var instanceTypes = sync.OnceValue(readInstanceTypes)

// readInstanceTypes reads the table: lines of interfaces, addresses and the types that have so many.
func readInstanceTypes() map[string]Limits {
	table := map[string]Limits{}
	for line := range strings.Lines(instanceTypesText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		var l Limits
		if _, err := fmt.Sscan(line, &l.ENIs, &l.IPv4PerENI); err != nil {
			panic("datastore: instance_types.txt: " + line)
		}
		for _, name := range fields[2:] {
			table[name] = l
		}
	}
	return table
}

// LimitsOf looks an instance type up.
func LimitsOf(instanceType string) (Limits, bool) {
	l, ok := instanceTypes()[instanceType]
	return l, ok
}

// InstanceTypes are the known ones in order.
func InstanceTypes() []string { return slices.Sorted(maps.Keys(instanceTypes())) }
