// Package blockranges is what a scenario says of the ranges that controllers carve nodes' blocks from: what they start with, how they change,
// what the controllers of each address management are given of them, and whether a block of them is free.
//
// It decides nothing about who gets a block: that is ipam's nodeipam and cilium. It knows no world, has no clock and is not safe for
// concurrent use. Start at New. An error names the range that cannot be had.
package blockranges
