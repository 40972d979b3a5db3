// Package space computes with address ranges and keeps sets of them.
//
// It answers which address, index or subnet is the n-th of a prefix, which indices of a range are taken, and which one
// comes next. IPv4 and IPv6 share one code path of 128-bit numbers, and 4-in-6 forms count as the IPv4 that they embed.
//
// It never knows owners, leases, policies or names: those belong to the systems beside it (ipam/contiv and others).
//
// Start at Pool for addresses and Subnets for blocks of addresses; Bitmap is the set below both, and the functions on
// netip.Prefix (Nth, Index, Subnet, Last) are the arithmetic below everything.
//
// Nothing here reads a clock or allocates on the hot path; callers pass the time. Bad input is an error, never a panic
// and never a silently wrapped number; counts that do not fit 64 bits saturate. Each clever structure has a slow,
// obvious twin in the tests.
//
// To add a way of choosing addresses, build it from Bitmap's NextClear and NextSet in a file of its own beside pool.go.
package space
