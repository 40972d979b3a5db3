// Package fault decides which operations of a run go wrong, and how.
//
// It never does the harm itself. The component that is about to perform an operation asks an Injector and obeys its
// Verdict, so components contain no fault logic and a new fault is a new file here. Start at Injector, then Parse.
//
// An Injector is a verdict, or a condition around an Injector: (Nth 1 (Request tap_create_v3 Mute)). Conditions nest in
// any order; those that count, count what the Injector inside would not let pass. Each prints as an s-expression that
// Parse reads back.
//
// Judging an operation allocates nothing. Time and chance come from the Env that an Injector was built with, so a run
// with the same choices has the same faults.
//
// To add an injector, write its file beside during.go (what it does, how it prints, how its words are read) and its row
// in injectors.go.
package fault
