package controllers

import "fmt"

// Refusal is a request that a program must accept and refuses, and dies of: a driver panics with it, and the world
// reports it as a panic of the program's own.
type Refusal struct {
	Program string
	Err     error
}

// Error implements error.
func (r *Refusal) Error() string {
	return r.Program + " refuses, " + r.Err.Error()
}

// Unwrap implements errors' protocol.
func (r *Refusal) Unwrap() error { return r.Err }

// Accept ends a life of a program that has refused, as it starts, a configuration that was accepted when the scenario
// was read: it would again after each restart.
func Accept(program string, err error) {
	if err != nil {
		panic(&Refusal{Program: program, Err: fmt.Errorf("as it starts, what was accepted with the scenario: %w", err)})
	}
}
