// Package cmd holds the commands of real machines: lab and doctor, and the node agent's process of labs. Main adds
// those about the modelled VPP to lab.
//
// It decides how a person asks for labs and how answers are printed. It never makes a machine or judges one: labs do,
// and package scenarios/cmd runs scenarios. Start at Commands. Commands that need nothing real are in scenarios/cmd.
//
// Every command of labs first removes the remains of labs whose owners died. Exit codes are scenarios/cmd's: 0 for
// fine, 1 for a probe that failed, 2 for bad usage, 3 for a machine that cannot do it, 130 for an interrupt.
package cmd
