// Package cmd is the command line of vppdrill, and its commands about scenarios: run, init, trace, explore, debug,
// experiment, describe.
//
// It decides how a person asks for runs and how results are printed: flags, order, progress, exit codes. It never
// judges a run and never writes a report itself: worlds come in as RunFuncs, formats as Reports, so that each command
// is tested without a process. Start at Execute. Address plans, the node agent and labs bring their commands from
// ipam/cmd, vppwire/cmd and lab/cmd. Runs may finish in any order; results are printed in the order of the request. An
// interrupt ends the current run, keeps finished ones and exits with 130. Bad usage is one line and writes nothing. To
// add a command, write one file with a constructor. List it in debugCommand, describeCommand or experimentCommand, or
// in rootCommand with its job in groups.
package cmd
