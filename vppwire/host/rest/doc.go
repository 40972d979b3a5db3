// Package rest shows one agent over HTTP: its addresses and lookups as Contiv's agents do, its health, its metrics and its plan; of
// a controller its health alone.
//
// It decides paths and formats and changes nothing: there is no path that writes. Start at Handler, of a controller at
// Probes. What is shown is the state between two steps of the agent. Listen takes loopback addresses and unix sockets
// only, as there is no authentication. To show more, add a path in Handler.
package rest
