// Package collide says how often things collide that a cluster chooses by a hash, by chance or in a race, and how soon an address meets
// its own past: a formula, a simulation of the very choice, and how far one is safe.
//
// It decides nothing that a node does. Simulations of reuse drive this module's own allocators; those of hashes hash names as
// clusters do. The same seed gives the same figures. Start at Desk. To add a choice, add a row to choices.
package collide
