// Package spawn starts processes in network namespaces and finds them again after whoever started them has died.
//
// It decides how a process is recognized: by its number and the time at which it started, written down before the call
// that started it returns, so that a number that was given again is never mistaken for it. It never looks for processes
// by name.
//
// Start at Start, then Recorded. Ending a process waits until it is gone. A lab's processes also carry its mark in
// their environment (Marked), which finds those whose starter died before it could write anything down.
package spawn
