package controllers

// Refusal is what a program says, as it starts, of a configuration that was accepted when the scenario was read: it dies of it, and would again after
// each restart. A driver panics with it, and the world tells of it as of a panic of the program's own.
type Refusal struct {
	Program string
	Err     error
}

// Error implements error.
func (r *Refusal) Error() string {
	return r.Program + " refuses, as it starts, what was accepted with the scenario: " + r.Err.Error()
}

// Unwrap implements errors' protocol.
func (r *Refusal) Unwrap() error { return r.Err }

// Accept ends a life of a program that has refused its configuration.
func Accept(program string, err error) {
	if err != nil {
		panic(&Refusal{Program: program, Err: err})
	}
}
