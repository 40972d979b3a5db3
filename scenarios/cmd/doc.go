// Package cmd is the command line of vppdrill, and its commands about scenarios: run, explore, replay, schema, trace, report.
//
// It decides how a person asks for runs and how the answer is told: flags, order, progress, exit codes. It never judges a
// run and never writes a report itself: worlds come in as RunFuncs, formats as Reports, so that each command is tested
// without a process. Start at Execute. Address plans, the node agent and labs bring their commands from ipam/cmd,
// vppwire/cmd and lab/cmd.
// Runs may finish in any order; they are told in the order asked for. An interrupt ends the run under way, keeps what was
// finished and exits with 130. Bad usage is one line and writes nothing.
// To add a command, write one file with a constructor and list it in root.
package cmd
