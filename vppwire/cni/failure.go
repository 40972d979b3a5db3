//go:build linux

package cni

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
)

// latest is the version of the specification that this package implements, and that errors are told in before it is
// known which one the runtime speaks.
const latest = "1.1.0"

// Versions lists the versions in which results can be told, oldest first. Those before 0.3.0 have no interfaces.
var Versions = []string{"0.3.0", "0.3.1", "0.4.0", "1.0.0", latest}

// failure is an error document (CNI specification 1.1, section 5, "Error").
type failure struct {
	CNIVersion string `json:"cniVersion"`
	Code       uint   `json:"code"`
	Msg        string `json:"msg"`
	Details    string `json:"details,omitempty"`

	// answered: the agent said so itself, and has left nothing behind.
	answered bool
}

// Error implements error.
func (f *failure) Error() string {
	if f.Details == "" {
		return fmt.Sprintf("%s (code %d)", f.Msg, f.Code)
	}
	return fmt.Sprintf("%s: %s (code %d)", f.Msg, f.Details, f.Code)
}

// failed makes an error of a code of the specification. The message is one line.
func failed(code uint, format string, args ...any) *failure {
	return &failure{Code: code, Msg: oneLine(fmt.Sprintf(format, args...))}
}

// more adds what a person may want to know besides.
func (f *failure) more(format string, args ...any) *failure {
	f.Details = oneLine(fmt.Sprintf(format, args...))
	return f
}

// add tells of another error besides.
func (f *failure) add(other *failure) {
	if f.Details != "" {
		f.Details += "; "
	}
	f.Details += other.Error()
}

// oneLine keeps messages to one line, as they end up in events and logs of others.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// undecodable is of JSON that is broken, or has another type than it should. Of what the library says, the names of Go
// types are left out: they are no help to whoever wrote the JSON.
func undecodable(what string, err error) *failure {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return failed(types.ErrDecodingFailure, "%s: %v", what, err)
	}
	if other.Field == "" {
		return failed(types.ErrDecodingFailure, "%s: %s is not what belongs here", what, other.Value)
	}
	return failed(types.ErrDecodingFailure, "%s: %s: %s is not what belongs here", what, other.Field, other.Value)
}

// invalidEnv is of a variable that the specification says more about.
func invalidEnv(variable, format string, args ...any) *failure {
	return failed(types.ErrInvalidEnvironmentVariables, variable+": "+format, args...)
}
