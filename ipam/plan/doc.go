// Package plan says what an address configuration amounts to before anybody installs it: which ranges there are, how
// many nodes and pods fit, what is reserved, what runs out first, and what is wrong with it.
//
// It never allocates for anybody, reads no file and knows no clock: a configuration goes in as a Source with what is
// known of the Cluster, a Plan comes out as a value. Start at Make; Warm and Watermark explain the addresses that a
// node keeps ready.
//
// The same input gives the same Plan, findings in the order errors, warnings, and each in the order of its rule. A
// configuration that can be read but cannot work gives a Plan with findings of severity Error; an error is returned
// only for what cannot be read. Every figure is the one that the allocator itself reaches when it is asked until it is
// exhausted: tests compare them.
//
// What allocates is in ipam/contiv, ipam/nodeipam, ipam/cilium and ipam/datastore. To add a system, implement Source;
// to add a rule of the lint, give it a name and a sentence in rules and a place in lint.go or in its system's file.
package plan
