// Package transcript is conversations with a VPP as text, one line for each request and answer.
//
// It decides how a message of the binary API is written down, so that it can be read, compared and sent again, and
// which parts of an answer depend on chance: drawn MACs, process IDs, counters' indices. It never opens a socket or a
// file: a Recorder listens to any api.Connection, Read and Text turn text into a Transcript and back, and Replay asks
// the modelled VPP the same again.
//
// Start at Transcript. A line "> name field=value …" is a request, "< …" an answer, "! …" an event that followed, "# …"
// a comment; fields of value zero are left out, ~0 is the largest number of 32 bits, and dumps end without a line. A
// difference is not an error but a Difference; errors are bad text, with the line. Intended differences are in gaps.go,
// each with its reason.
//
// To record another conversation, write its requests into a file below fixtures/vppapi and run vppdrill lab parity
// --record.
package transcript
