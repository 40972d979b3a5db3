// Package relay carries connections between an agent and the control plane, and can be told to carry them badly.
//
// It decides when bytes arrive: at once, late, or not before a cut is mended. It never looks at them. A cut holds bytes
// back and loses none, as a partition does to a connection of TCP; what a loss costs such a connection is the time of a
// retransmission. Start at Listen. The modelled network is sim/internal/cluster's.
//
// Each direction is cut by itself. Bytes keep their order whatever happens. A Relay may be told things from any
// goroutine.
package relay
