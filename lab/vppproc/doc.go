// Package vppproc finds, starts, watches and stops one real VPP process.
//
// It decides which binary is taken, what its startup.conf says, whether it is one that the agent can speak to, and when
// it is ready. It never wires anything: that is the agent's work. Start at Find, then Start. The model of VPP is
// sim/vppmodel.
//
// A VPP that Start returned answers on its API socket and has run its boot commands; before that the socket does not
// exist under the name that agents know. Everything a VPP writes is in one folder of the caller's. Errors are one line
// each and wrap ErrCannotRun where the machine, and not the caller, is what is wrong; a failed Start leaves no process
// behind.
//
// To ask more of a VPP, add the message to needed and the plugin that has it to plugins.
package vppproc
