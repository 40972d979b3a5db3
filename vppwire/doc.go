// Package vppwire holds VPP and the host's Linux side as desired state and finds the calls that reach it.
//
// It decides which request comes next and what its answer means. It never opens a socket, reads a clock, sleeps or starts
// a goroutine: a Session hands out one Call at a time, a driver performs it on whatever connection it has and feeds the
// Result back. Start at Session, then Object. A lost reply is unknown, never failed: the Session dumps before it decides.
// Nothing is deleted before AllowDelete. The model that this package is judged by is sim/vppmodel, which never imports it.
// To add an object, write one file beside route.go: key, needs, canonical line, calls, dump decoding.
package vppwire
