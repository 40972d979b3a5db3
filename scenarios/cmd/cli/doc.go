// Package cli is what all commands of vppdrill share: exit codes, one-line usage errors, and --format.
//
// It decides how a command tells its outcome to a shell and refuses what was typed. It has no command of its own: those
// are in scenarios/cmd, ipam/cmd, vppwire/cmd and lab/cmd. Start at Usagef, Broken and CannotRun, which make the errors
// that commands return; Code reads them back. An error without a code is bad usage. To add an exit code, add it here
// and to `vppdrill --help`.
package cli
