package datastore

import (
	"maps"
	"slices"
)

// Limits are what an EC2 instance type can have, from AWS' "Elastic network interfaces" page of the EC2 user guide and
// amazon-vpc-cni-k8s' pkg/vpc/vpc_ip_resource_limit.go.
type Limits struct {
	// ENIs is how many interfaces, the primary one included.
	ENIs int
	// IPv4PerENI is how many addresses an interface may have, its own one included; a delegated prefix takes the place of one.
	IPv4PerENI int
}

var instanceTypes = map[string]Limits{
	"t3.nano": {2, 2}, "t3.micro": {2, 2}, "t3.small": {3, 4}, "t3.medium": {3, 6}, "t3.large": {3, 12}, "t3.xlarge": {4, 15},
	"t3.2xlarge": {4, 15}, "m5.large": {3, 10}, "m5.xlarge": {4, 15}, "m5.2xlarge": {4, 15}, "m5.4xlarge": {8, 30},
	"m5.8xlarge": {8, 30}, "m5.12xlarge": {8, 30}, "m5.16xlarge": {15, 50}, "m5.24xlarge": {15, 50}, "c5.large": {3, 10},
	"c5.xlarge": {4, 15}, "c5.4xlarge": {8, 30}, "c5.9xlarge": {8, 30}, "c5.18xlarge": {15, 50}, "r5.large": {3, 10},
	"r5.4xlarge": {8, 30}, "p3dn.24xlarge": {15, 50}, "p4d.24xlarge": {60, 50},
}

// LimitsOf looks an instance type up.
func LimitsOf(instanceType string) (Limits, bool) {
	l, ok := instanceTypes[instanceType]
	return l, ok
}

// InstanceTypes are the known ones in order.
func InstanceTypes() []string { return slices.Sorted(maps.Keys(instanceTypes)) }
